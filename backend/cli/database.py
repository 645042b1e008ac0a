"""The database behind a command: our own embedded one, or the one that DATABASE_URL names."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from backend import settings
from backend.cli.failure import Failure
from backend.db import embedded, migrate
from backend.db.bootstrap import RUNTIME, bootstrap, settle
from backend.db.connection import Database
from backend.db.errors import DatabaseError
from backend.db.principal import find_tenant
from backend.domain.model import DEFAULT_TENANT

NAME = "fencepost"
_NO_ADMIN = "FENCEPOST_ADMIN_URL must name an administrator's address for that"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where the database is: as the runtime role, as the administrator, and whether it is ours.

    `passing`: its folder is removed at the end. `statements_kept`: how many each session prepares.
    """

    url: str
    admin_url: str | None
    server: embedded.Server | None = None
    passing: bool = False
    statements_kept: int = 100

    def admin(self) -> str:
        """Return the administrator's address. Raises Failure if there is none."""
        if self.admin_url is None:
            raise Failure(f"{_NO_ADMIN}.", 2)
        return self.admin_url


@contextlib.asynccontextmanager
async def open_place(
    chosen: settings.Settings, data: Path | None, *, fresh: bool = False, share: bool = False
) -> AsyncIterator[Place]:
    """Find the database, starting the embedded one if it is ours to start.

    `fresh` always means an embedded one of our own in a temporary folder. With `share` the
    embedded server of a running `serve` is used. Raises Failure or EmbeddedError.
    """
    if chosen.database_url and not fresh:
        if data is not None:
            raise Failure("--data is for the embedded database, but DATABASE_URL is set.", 2)
        yield Place(
            url=chosen.database_url,
            admin_url=chosen.admin_url,
            statements_kept=chosen.statements_kept,
        )
        return
    async with embedded.server(
        data or chosen.data_folder, fresh=fresh, share=share, binaries=chosen.pg_bin_folder
    ) as server:
        yield Place(
            url=server.url(NAME, RUNTIME), admin_url=server.url(NAME), server=server, passing=fresh
        )


async def make_ready(place: Place) -> None:
    """Set up an embedded or an empty database; leave any other to its operator.

    Raises Failure if that is for the operator to do, and says what.
    """
    if place.server is not None:
        await bootstrap(place.admin())
        if await migrate.migrate(place.admin()) and not place.passing:
            await settle(place.admin())
        return
    try:
        async with Database(place.url, size=1, statement_cache=place.statements_kept):
            return
    except DatabaseError as error:
        if place.admin_url is None:
            raise Failure(f"{error}; to set it up, {_NO_ADMIN}.") from None
        problem = error
    await bootstrap(place.admin())
    standing = await migrate.status(place.admin())
    if any(one.applied_at for one in standing):
        raise Failure(str(problem))
    await migrate.migrate(place.admin())


@contextlib.asynccontextmanager
async def open_database(data: Path | None) -> AsyncIterator[Database]:
    """Open the database for a command that needs no more than a connection or two.

    An embedded database that nobody serves is started for as long as that takes, and set up.
    """
    async with open_place(settings.read(), data, share=True) as place:
        if place.server is not None and place.server.pid is not None:
            await make_ready(place)
        async with Database(place.url, size=2, statement_cache=place.statements_kept) as db:
            yield db


async def default_tenant(db: Database) -> int:
    """Return the id of the one tenant there is by default."""
    async with db.connection() as connection:
        tenant_id = await find_tenant(connection, DEFAULT_TENANT)
    if tenant_id is None:
        raise Failure("the database has no tenant: run fencepost migrate.")
    return tenant_id

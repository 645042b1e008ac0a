"""Where the database is: the one that DATABASE_URL names, else one of our own.

async with place(settings.database_url, settings.admin_url, folder) as found:
    async with Database(found.runtime_url) as database:
        ...
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from backend.db.bootstrap import READER, RUNTIME, bootstrap
from backend.db.embedded import Server, server
from backend.db.migrate import migrate

NAME = "fencepost"


class Place(msgspec.Struct, frozen=True):
    """The addresses of one database. `server` is set when it is ours to watch.

    Some addresses of a database elsewhere may be unknown to this process.
    """

    runtime_url: str
    admin_url: str | None
    reader_url: str | None
    server: Server | None

    def __repr__(self) -> str:
        """Name no address: it may hold a password."""
        return f"Place(embedded={self.server is not None})"


@contextlib.asynccontextmanager
async def place(
    database_url: str | None,
    admin_url: str | None = None,
    folder: Path | None = None,
    *,
    fresh: bool = False,
    share: bool = False,
    binaries: Path | None = None,
) -> AsyncIterator[Place]:
    """Yield the database's addresses; one of our own is started, set up and migrated first.

    `folder` or `fresh` ask for one of our own even if there is a DATABASE_URL. `share` joins a
    server that another process of ours runs on the folder. A database elsewhere is taken as it
    is: `fencepost bootstrap` and `fencepost migrate` set it up, by hand.

    Raises EmbeddedError or MigrationError with a line that says what is wrong.
    """
    if database_url and not fresh and folder is None:
        yield Place(database_url, admin_url, None, None)
        return
    async with server(folder, fresh=fresh, share=share, binaries=binaries) as ours:
        admin = ours.url(NAME)
        if ours.pid is not None:
            await bootstrap(admin)
            await migrate(admin)
        yield Place(ours.url(NAME, RUNTIME), admin, ours.url(NAME, READER), ours)

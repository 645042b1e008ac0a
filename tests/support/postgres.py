"""One throwaway cluster a test process, and in it one database a test, cloned from a template."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import msgspec

from backend.db.bootstrap import READER, RUNTIME, bootstrap
from backend.db.embedded import Server, server
from backend.db.migrate import migrate

TEMPLATE = "template_fencepost"
OWN_BINARIES = "FENCEPOST_TEST_PG_BIN"


class Dsn(msgspec.Struct, frozen=True):
    """The addresses of one test's database: as administrator, as the server, as a reader."""

    name: str
    admin: str
    runtime: str
    reader: str


class Cluster:
    """A running server with a migrated template."""

    def __init__(self, running: Server, admin: asyncpg.Connection[asyncpg.Record]) -> None:
        self.server = running
        self._admin = admin
        self._names = (f"test_{number}" for number in itertools.count(1))

    async def clone(self) -> Dsn:
        """Make a database from the template: 10 to 50 ms."""
        name = next(self._names)
        await self._admin.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY wal_log")
        return self.dsn(name)

    async def empty(self) -> Dsn:
        """Name a database that does not exist yet."""
        return self.dsn(next(self._names))

    def dsn(self, name: str) -> Dsn:
        """Return the addresses of a database."""
        url = self.server.url
        return Dsn(name, url(name), url(name, RUNTIME), url(name, READER))

    async def drop(self, dsn: Dsn) -> None:
        """Remove a database, cutting off whoever is still in it."""
        await self._admin.execute(f"DROP DATABASE IF EXISTS {dsn.name} WITH (FORCE)")


@contextlib.asynccontextmanager
async def running_cluster(*, durable: bool = False) -> AsyncIterator[Cluster]:
    """Run a cluster, for tests without crash safety, and prepare its template."""
    async with server(None, fresh=True, durable=durable, binaries=own_binaries()) as running:
        template = running.url(TEMPLATE)
        await bootstrap(template)
        await migrate(template)
        admin = await asyncpg.connect(running.url())
        try:
            yield Cluster(running, admin)
        finally:
            await admin.close()


def own_binaries() -> Path | None:
    """Return the folder of PostgreSQL programs that the tests were told to use."""
    chosen = os.environ.get(OWN_BINARIES)
    return Path(chosen) if chosen else None

"""The databases that the queue is measured on: made once a run, or once for all at full size."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import platformdirs

from backend.db.bootstrap import READER, RUNTIME, bootstrap
from backend.db.embedded import Server, server
from backend.db.migrate import migrate
from tests.sql.crowd import make_past, make_people, make_present
from tests.support.postgres import Dsn, own_binaries

FIRST_CLAIMER = 100_000_000
_BYTES_A_ROW = 2_500
"""What one item takes with its content, its evidence, its decision and its log: measured, rounded
up."""


class Stock:
    """Databases by what is in them, on one durable server."""

    def __init__(self, running: Server) -> None:
        self.server = running

    async def database(self, history: int, waiting: int, leased: int, claimers: int) -> Dsn:
        """Return a database with so many rows; one that was kept from an earlier run is taken."""
        dsn = self._dsn(f"bench_{history}_{waiting}_{leased}_{claimers}")
        if not await self._exists(dsn.name):
            await self._make(dsn, history, waiting, leased, claimers)
        return dsn

    async def empty(self, name: str) -> Dsn:
        """Return a migrated database without rows; one of this name from before is dropped."""
        await self._say(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        dsn = self._dsn(name)
        await bootstrap(dsn.admin)
        await migrate(dsn.admin)
        return dsn

    def _dsn(self, name: str) -> Dsn:
        url = self.server.url
        return Dsn(name, url(name), url(name, RUNTIME), url(name, READER))

    async def _exists(self, name: str) -> bool:
        admin = await asyncpg.connect(self.server.url())
        try:
            query = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)"
            return bool(await admin.fetchval(query, name))
        finally:
            await admin.close()

    @contextlib.asynccontextmanager
    async def consumed(self, waiting: int, leased: int, claimers: int) -> AsyncIterator[Dsn]:
        """Make a database whose items will be decided, and drop it afterwards."""
        dsn = await self.empty("bench_consumed")
        await _fill(dsn, 0, waiting, leased, claimers)
        yield dsn
        await self._say(f"DROP DATABASE {dsn.name} WITH (FORCE)")

    async def _make(self, dsn: Dsn, history: int, waiting: int, leased: int, claimers: int) -> None:
        half = await self.empty(f"{dsn.name}_making")
        await _fill(half, history, waiting, leased, claimers)
        await self._say(f"ALTER DATABASE {half.name} RENAME TO {dsn.name}")

    async def _say(self, command: str) -> None:
        owner = await asyncpg.connect(self.server.url())
        try:
            await owner.execute(command)
        finally:
            await owner.close()


async def _fill(dsn: Dsn, history: int, waiting: int, leased: int, claimers: int) -> None:
    async with contextlib.AsyncExitStack() as stack:
        admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
        stack.push_async_callback(admin.close)
        runtime = await asyncpg.connect(dsn.runtime)
        stack.push_async_callback(runtime.close)
        await make_past(admin, runtime, resolved=history)
        await make_present(admin, after=history, queued=waiting, leased=leased)
        await make_people(admin, claimers, first=FIRST_CLAIMER)
        await admin.execute("VACUUM ANALYZE")
        await admin.execute("CHECKPOINT")


@contextlib.asynccontextmanager
async def stock(*, kept: bool, rows: int) -> AsyncIterator[Stock]:
    """Run the server; `kept` in a folder that stays, since ten million rows take an hour to make.

    Raises OSError where the disk has no room for so many rows.
    """
    folder = Path(platformdirs.user_cache_dir("fencepost")) / "bench" if kept else None
    _refuse_full_disk(folder, rows)
    async with server(folder, fresh=folder is None, durable=True, binaries=own_binaries()) as made:
        yield Stock(made)


def _refuse_full_disk(folder: Path | None, rows: int) -> None:
    place = Path(tempfile.gettempdir()) if folder is None else folder
    there = 0 if folder is None else _size(folder)
    while not place.exists():
        place = place.parent
    free, needed = shutil.disk_usage(place).free, max(0, rows * _BYTES_A_ROW - there)
    if free < needed:
        raise OSError(f"{place} has {free // 2**30} GiB free; {needed // 2**30} more are needed")


def _size(folder: Path) -> int:
    """Return the bytes that an earlier run left there."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())

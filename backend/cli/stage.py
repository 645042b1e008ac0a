"""The stage of a demo: a database, a server, three keys, and nothing left of them afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any, Never, TypeVar

import msgspec

from backend import settings
from backend.cli.children import ServerChild, server_child
from backend.cli.database import Place, make_ready, open_place
from backend.cli.keys import write_private
from backend.cli.policies import ensure_policy
from backend.db.connection import Database
from backend.services import keys
from shared.client import FencepostClient
from shared.vocabulary import KeyEnv, Role

_HOLDERS = {Role.PRODUCER: "demo-producer", Role.REVIEWER: "demo-reviewer", Role.LEAD: "demo-lead"}
_PREFIX = "fencepost-demo-"
_POOL = 2
_T = TypeVar("_T")


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """All that a demo plays on. `suffix` keeps the ids of several runs on one folder apart."""

    place: Place
    db: Database
    server: ServerChild
    key_files: dict[Role, Path]
    suffix: str

    def client(self, role: Role) -> FencepostClient:
        """Return a client of the demo's holder of this role."""
        key = self.key_files[role].read_text(encoding="ascii").strip()
        return FencepostClient(self.server.address, key)

    async def play(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run `work`, unless server or database end before it does.

        Raises Failure or EmbeddedError, with the reason, if they do.
        """
        playing = asyncio.create_task(work)
        holding: list[asyncio.Task[Never]] = [asyncio.create_task(self.server.watch())]
        if self.place.server is not None:
            holding.append(asyncio.create_task(self.place.server.watch()))
        try:
            await asyncio.wait([playing, *holding], return_when=asyncio.FIRST_COMPLETED)
            for held in holding:
                if held.done():
                    held.result()
            return await playing
        finally:
            for task in (playing, *holding):
                task.cancel()
            await asyncio.gather(playing, *holding, return_exceptions=True)


@contextlib.asynccontextmanager
async def stage(data: Path | None, *, without_applier: bool = False) -> AsyncIterator[Stage]:
    """Set everything up, and take it down again however it ends.

    The database lives in a folder of its own that is removed at the end, or in `data`, which stays.
    """
    chosen = settings.read()
    async with contextlib.AsyncExitStack() as stack:
        private = stack.enter_context(_private_folder())
        own = msgspec.structs.replace(chosen, database_url=None)
        place = await stack.enter_async_context(open_place(own, data, fresh=data is None))
        await make_ready(place)
        db = await stack.enter_async_context(Database(place.url, size=_POOL))
        await ensure_policy(db, None)
        extra = ["--without-applier"] if without_applier else []
        server = await stack.enter_async_context(
            server_child(place.url, private / "server.log", *extra)
        )
        yield Stage(
            place=place,
            db=db,
            server=server,
            key_files=await _make_keys(db, private, KeyEnv(chosen.env)),
            suffix="" if data is None else f"-{secrets.token_hex(3)}",
        )


@contextlib.contextmanager
def _private_folder() -> Iterator[Path]:
    """Make a folder for keys and messages, and remove those that killed demos left behind."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            pid = int(left.name.removeprefix(_PREFIX).partition("-")[0])
            if left.stat().st_uid == os.geteuid() and not _is_alive(pid):
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        yield Path(folder)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is there, and somebody else's
    return True


async def _make_keys(db: Database, folder: Path, env: KeyEnv) -> dict[Role, Path]:
    files = {}
    for role, name in _HOLDERS.items():
        kind = "service" if role is Role.PRODUCER else "person"
        files[role] = folder / f"{role}.key"
        write_private(files[role], await keys.create(db, name, kind, role, None, env) + "\n")
    return files

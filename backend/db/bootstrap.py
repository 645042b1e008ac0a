"""Make the database, the roles and the schema's place. Idempotent, and harmless beside itself.

It needs an administrator's address; `serve` and the workers never see that one.
"""

from __future__ import annotations

import asyncio
import urllib.parse
from importlib.resources import files

import asyncpg

from backend.db.statements import run, statement

RUNTIME = "fencepost_runtime"
READER = "fencepost_reader"
_TURN = 0x66656E63  # the advisory lock of set-up
_TRIES = 10
_PAUSE = 0.05  # seconds

# Roles belong to the whole cluster, but an advisory lock to one database: two that set up
# different databases may still meet at a role. Whoever loses tries again.
_MET_ANOTHER = (
    asyncpg.DuplicateObjectError,
    asyncpg.InternalServerError,  # "tuple concurrently updated" has no code of its own
    asyncpg.UniqueViolationError,
)


async def bootstrap(admin_url: str) -> None:
    """Set up the database that `admin_url` names, making it if there is none.

    Raises asyncpg.PostgresError as the server says it when the administrator may not do this.
    """
    await _make_database(admin_url)
    script = files("sql").joinpath("roles.sql").read_text(encoding="utf-8")
    connection = await asyncpg.connect(admin_url)
    try:
        for turn in range(_TRIES):
            try:
                async with connection.transaction():
                    await run(statement("setup", "wait_for_turn"), connection, key=_TURN)
                    await connection.execute(script)
            except _MET_ANOTHER:
                if turn == _TRIES - 1:
                    raise
                await asyncio.sleep(_PAUSE * (turn + 1))
            else:
                return
    finally:
        await connection.close()


async def settle(admin_url: str) -> None:
    """Bring everything to disk now, so that the server has little left to write when it stops."""
    connection = await asyncpg.connect(admin_url)
    try:
        await run(statement("setup", "settle"), connection)
    finally:
        await connection.close()


async def _make_database(admin_url: str) -> None:
    """Make the database unless it answers."""
    try:
        connection = await asyncpg.connect(admin_url)
    except asyncpg.InvalidCatalogNameError:
        pass
    else:
        await connection.close()
        return
    name = urllib.parse.unquote(urllib.parse.urlsplit(admin_url).path.lstrip("/"))
    connection = await asyncpg.connect(admin_url, database="postgres")
    try:
        text = await statement("setup", "text_of_create_database")(connection, name=name)
        await connection.execute(text)
    except (asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
        return  # another was faster
    finally:
        await connection.close()

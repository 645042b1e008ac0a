"""A real PgBouncer in transaction mode before a test's cluster, with very few sessions."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from backend.db.account import server_account
from backend.db.bootstrap import RUNTIME
from backend.db.cluster import identity

_PATIENCE = 20.0
_INI = """
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 300
server_idle_timeout = 5
query_wait_timeout = {patience}
logfile = {folder}/log
pidfile = {folder}/pid
{more}
"""


class Pooler:
    """A PgBouncer that can be ended and started again at the same address."""

    def __init__(self, binary: str, folder: Path, port: int) -> None:
        self._binary = binary
        self._folder = folder
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, direct: str) -> str:
        """The address of a database through the pooler."""
        parts = urlsplit(direct)
        return f"postgresql://{parts.netloc.removesuffix('@')}@127.0.0.1:{self._port}{parts.path}"

    async def start(self) -> None:
        """Start it and wait until it answers."""
        command = [self._binary, "-q", str(self._folder / "ini")]
        self._process = subprocess.Popen(command, **identity(server_account()))
        async with asyncio.timeout(_PATIENCE):
            while not await self._answers():
                assert self._process.poll() is None, (self._folder / "log").read_text()
                await asyncio.sleep(0.05)

    async def _answers(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            return False
        writer.close()
        return True

    async def stop(self) -> None:
        """End it at once, in the middle of whatever it does."""
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
            self._process = None


@contextlib.asynccontextmanager
async def pooled(
    direct: str, *, sessions: int = 3, patience: int = 10, more: str = ""
) -> AsyncIterator[Pooler]:
    """Run a pooler before the server of an address; skip the test if there is no PgBouncer."""
    binary = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if binary is None:
        pytest.skip("no pgbouncer; on Debian: apt-get install pgbouncer")
    place = parse_qs(urlsplit(direct).query)
    with socket.create_server(("127.0.0.1", 0)) as free:
        own = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="fencepost-pooler-", dir="/tmp"))
    text = _INI.format(
        host=place["host"][0],
        port=place["port"][0],
        own=own,
        folder=folder,
        sessions=sessions,
        patience=patience,
        more=more,
    )
    (folder / "ini").write_text(text)
    (folder / "users").write_text(f'"{RUNTIME}" ""\n"postgres" ""\n')
    if (account := server_account()) is not None:
        shutil.chown(folder, account.uid, account.gid)
    pooler = Pooler(binary, folder, own)
    try:
        await pooler.start()
        yield pooler
    finally:
        await pooler.stop()
        shutil.rmtree(folder, ignore_errors=True)


async def sessions_of(admin: asyncpg.Connection[asyncpg.Record]) -> int:
    """How many sessions of the server's role there are on this database."""
    count: int = await admin.fetchval(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE usename = $1 AND datname = current_database() AND application_name = ''",
        RUNTIME,
    )
    return count

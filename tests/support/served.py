"""A real `fencepost serve` in a process of its own, and the command line beside it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg

from shared.client import FencepostClient
from tests.support.postgres import own_binaries
from tests.support.processes import ROOT

_READY = re.compile(r"ready at (http://\S+)")
_PATIENCE = 90.0  # seconds; the machine may be busy


def environment(**changes: str) -> dict[str, str]:
    """Ours, without any choice of the user's own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "DATABASE_URL" and not name.startswith(("FENCEPOST_", "PG"))
    }
    if (binaries := own_binaries()) is not None:
        kept["FENCEPOST_TEST_PG_BIN"] = str(binaries)
    return kept | {"COLUMNS": "100"} | changes


def command(*arguments: str) -> list[str]:
    """What to execute for a command line of fencepost."""
    return [sys.executable, "-m", "backend", *arguments]


def fencepost(*arguments: str, stdin: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
    """Run one command line to its end."""
    return subprocess.run(
        command(*arguments),
        input=stdin,
        env=environment(**changes),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=_PATIENCE * 2,
        check=False,
    )


class Served:
    """A server on a folder of its own; it can be killed and started again."""

    def __init__(self, home: Path, *arguments: str, port: int = 0) -> None:
        self.home = home
        self.data = home / "data"
        self.address = ""
        self._arguments = arguments
        self._port = port
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it and wait until it answers; always at the same address."""
        where = ["--data", str(self.data), "--port", str(self._port)]
        with (self.home / "serve.log").open("ab") as messages:
            self.process = subprocess.Popen(
                command("serve", *where, *self._arguments),
                env=environment(),
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=messages,
                text=True,
            )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        found = _READY.search(said)
        assert found, f"it did not start: {self.log()[-2000:]}"
        self.address = found[1]
        self._port = int(self.address.rpartition(":")[2])

    def stop(self, sig: int = signal.SIGTERM) -> tuple[int, float]:
        """Stop it; return its exit code and how many seconds it took."""
        assert self.process is not None
        began = time.monotonic()
        self.process.send_signal(sig)
        code = self.process.wait(_PATIENCE)
        return code, time.monotonic() - began

    def log(self) -> str:
        """What it said on standard error."""
        return (self.home / "serve.log").read_text()

    def postmaster(self) -> int:
        """The process id of its PostgreSQL."""
        return int((self.data / "pg" / "postmaster.pid").read_text().split("\n", 1)[0])

    def has_another(self, postmaster: int) -> bool:
        """Tell whether a PostgreSQL other than this one runs by now; its file comes and goes."""
        try:
            return self.postmaster() != postmaster
        except (FileNotFoundError, ValueError):
            return False

    def admin_url(self) -> str:
        """The address of its database as administrator."""
        return f"postgresql://postgres@/fencepost?host={self.data / 'run'}&port=5432"

    async def sql(self) -> asyncpg.Connection[asyncpg.Record]:
        """Open a connection to look at its rows."""
        return await asyncpg.connect(self.admin_url(), server_settings={"search_path": "fencepost"})

    def fencepost(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command line that works on the server's folder."""
        return fencepost(*arguments, "--data", str(self.data), stdin=stdin)

    def key(self, name: str, role: str) -> str:
        """Make a key."""
        done = self.fencepost("key", "create", "--name", name, "--role", role)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def key_file(self, name: str, role: str) -> Path:
        """Make a key, in a file."""
        path = self.home / f"{name}.key"
        path.write_text(self.key(name, role))
        path.chmod(0o600)
        return path

    def client(self, key: str) -> FencepostClient:
        """A client of one holder."""
        return FencepostClient(self.address, key)


@contextlib.contextmanager
def home_folder() -> Iterator[Path]:
    """A folder that the database's own account can pass through too, removed at the end."""
    home = Path(tempfile.mkdtemp(prefix="fencepost-test-", dir="/tmp"))
    home.chmod(0o711)
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def served(*arguments: str) -> Iterator[Served]:
    """Run a server on a fresh folder; at the end neither is left."""
    with home_folder() as home:
        server = Served(home, *arguments)
        server.start()
        try:
            yield server
        finally:
            assert server.process is not None
            if server.process.poll() is None:
                server.stop()
            assert server.process.stdout is not None
            server.process.stdout.close()


@contextlib.asynccontextmanager
async def serving(database_url: str, *flags: str) -> AsyncIterator[int]:
    """Run a server on a database that is there already; yield its port."""
    process = await asyncio.create_subprocess_exec(
        *command("serve", "--port", "0", "--database", database_url, *flags),
        env=environment(),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        said = (await process.stdout.readline()).decode()
        found = _READY.search(said)
        if found is None:
            raise RuntimeError(f"the server did not start: {said!r}")
        yield int(found[1].rpartition(":")[2])
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()

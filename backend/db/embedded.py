"""A PostgreSQL of our own: started as a child, reached through a private socket, never leaked.

    async with server(folder) as database:
        await asyncpg.connect(database.url("fencepost", "fencepost_runtime"))

The child ends with us even when we are killed (on Linux), and whoever comes next ends what was
left over before it starts its own. It is for trial and for one machine: it gets no security
updates by itself; DATABASE_URL names a server that does.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import NoReturn, TypeVar

import asyncpg
import structlog

from backend.db import cluster
from backend.db.account import Account, EmbeddedError, server_account
from backend.db.binaries import SYSTEM_FOLDER, Binaries, find_binaries
from backend.db.folder import (
    InUseError,
    Lock,
    default_folder,
    open_log,
    prepare,
    socket_folder,
    temporary,
)
from backend.db.leftover import socket_folder_of, stop_leftover

_PORT = 5432  # only names the socket's file: nothing listens on a port
_READY_WITHIN = 900.0  # seconds; the recovery after a crash replays all that was not checkpointed
_TELL_EVERY = 5.0
_NOT_YET = {"shared memory block": _READY_WITHIN, "lock file": 60.0}
"""Last words after which another start may succeed, and for how many seconds to try. The second:
a killed server that nobody has buried yet still counts as alive; some inits take seconds for it."""
_SETTLED = 10.0  # seconds of life after which a death no longer counts as a failure to start
_MOST_DEATHS = 3
_STOP = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))
_SET_PARENT_DEATH_SIGNAL = 1

T = TypeVar("T")
log = structlog.get_logger(__name__)


class Server:
    """A running embedded server. Made by `server` alone."""

    def __init__(
        self, folder: Path, socket: Path, binaries: Binaries, account: Account | None, durable: bool
    ) -> None:
        self.folder = folder
        self.socket = socket
        self.binaries = binaries
        self._account = account
        self._durable = durable
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id of our child; None when the server is another process's."""
        return self._process.pid if self._process else None

    def url(self, dbname: str = "postgres", role: str = cluster.SUPERUSER) -> str:
        """Return the address of a database as one of its roles."""
        query = {"host": str(self.socket), "port": _PORT}
        place = urllib.parse.urlencode(query, quote_via=urllib.parse.quote)
        return f"postgresql://{urllib.parse.quote(role)}@/{urllib.parse.quote(dbname)}?{place}"

    async def wait(self) -> int:
        """Wait until the server ends; return its exit code."""
        assert self._process is not None
        while self._process.poll() is None:  # noqa: ASYNC110 - portable, and cheap
            await asyncio.sleep(0.1)
        return self._process.returncode

    async def watch(self) -> NoReturn:
        """Start the server again whenever it dies. Cancel this before the server is stopped.

        Raises EmbeddedError if it does not stay up: four deaths, each soon after a start or in one.
        """
        deaths = 0
        while True:
            started = time.monotonic()
            code = await self.wait()
            deaths = 1 if time.monotonic() - started > _SETTLED else deaths + 1
            log.warning("the embedded database ended; starting it again", exit_code=code)
            while not await self._revive(deaths):
                deaths += 1

    async def _revive(self, deaths: int) -> bool:
        """Start again after so many deaths; tell whether it came to live."""
        if deaths > _MOST_DEATHS:
            raise EmbeddedError(f"the embedded database does not stay up: {self._last_words()}")
        try:
            await self.start()
        except EmbeddedError:
            if self._process is None or self._process.poll() is None:
                raise  # it lives and yet does not answer: a second one would only be in its way
            return False
        return True

    async def start(self) -> None:
        """Start the server and wait until it answers."""
        until = time.monotonic() + _READY_WITHIN
        self._process = self._spawn()
        while not await self._is_ready(until):
            # The blocks of shared memory of a killed server are held until its last child is gone.
            log.info("the embedded database is still in use by a dying server; trying again")
            await asyncio.sleep(0.5)
            self._process = self._spawn()

    async def stop(self) -> None:
        """Stop the server: clients are cut off, everything committed is on disk."""
        process = self._process
        if process is None:
            return
        for how, seconds in _STOP:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(how)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.wait()
                    return

    async def _is_ready(self, until: float) -> bool:
        """Wait for the first answer. Return False if the start is worth another try."""
        assert self._process is not None
        tell_at = time.monotonic() + _TELL_EVERY
        while self._process.poll() is None:
            with contextlib.suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection = await asyncpg.connect(self.url(), timeout=5, ssl=False)
                await connection.close()
                return True
            now = time.monotonic()
            if now > until:
                raise EmbeddedError(f"the embedded database does not answer: {self._last_words()}")
            if now > tell_at:
                tell_at = now + _TELL_EVERY
                log.info("waiting for the embedded database", it_says=self._last_words())
            await asyncio.sleep(0.03)
        said = self._last_words(lines=6)
        for sign, patience in _NOT_YET.items():
            if sign in said and time.monotonic() < until - _READY_WITHIN + patience:
                return False
        raise EmbeddedError(f"the embedded database does not start: {said}")

    def _spawn(self) -> subprocess.Popen[bytes]:
        """Start the child. It dies with the thread that forks it, so that must be the main one."""
        if threading.current_thread() is not threading.main_thread():
            raise EmbeddedError("an embedded server must be started by the main thread")
        data = self.folder / "pg"
        cluster.configure(data, self.socket, self._account, durable=self._durable)
        log_file = open_log(self.folder)
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns of any fork beside threads; the child only calls prctl.
                warnings.simplefilter("ignore", DeprecationWarning)
                return subprocess.Popen(  # noqa: S603 - our own choice of program
                    [self.binaries.program("postgres"), "-D", str(data)],
                    stdin=subprocess.DEVNULL,
                    stdout=log_file,
                    stderr=log_file,
                    cwd="/",
                    umask=0o077,
                    env=cluster.clean_environment(),
                    start_new_session=True,  # Ctrl-C in the terminal is for us alone
                    preexec_fn=_end_with_parent(),  # noqa: PLW1509 - set after the change of user
                    **cluster.identity(self._account),
                )
        finally:
            os.close(log_file)

    def _last_words(self, lines: int = 2) -> str:
        """Return the end of the server's log."""
        try:
            with (self.folder / "postgres.log").open("rb") as text:
                text.seek(max(0, text.seek(0, os.SEEK_END) - 4096))
                tail = text.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return "; ".join(line.strip() for line in tail[-lines:])


def _end_with_parent() -> Callable[[], None] | None:
    """Return what the child does before exec: ask for SIGINT (a fast shutdown) when we die."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl  # loaded here: a forked child must not
    parent = os.getpid()

    def in_child() -> None:
        prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGINT), 0, 0, 0)
        if os.getppid() != parent:  # we died before the signal was asked for
            os._exit(1)

    return in_child


@contextlib.asynccontextmanager
async def server(
    folder: Path | None,
    *,
    fresh: bool = False,
    durable: bool = True,
    share: bool = False,
    binaries: Path | None = None,
) -> AsyncIterator[Server]:
    """Run a server on `folder` (None: the default one) for as long as the context is open.

    `fresh` takes a temporary folder instead and removes it at the end, also after errors.
    `durable=False` gives up crash safety for speed: for tests. With `share` a folder that another
    process of ours serves is joined rather than refused; the server is then not ours to stop.
    `binaries` names a folder of PostgreSQL programs to use.

    Raises EmbeddedError (InUseError among them) with a line that says why there is no database.
    """
    account = server_account()
    async with contextlib.AsyncExitStack() as cleanup:
        place = _place(folder, account, cleanup, fresh=fresh)
        try:
            _take_lock(place, cleanup)
        except InUseError:
            running = socket_folder_of(place / "pg") if share else None
            if running is None:
                raise
            yield Server(place, running, Binaries(Path(), 0), account, durable)
            return
        data = place / "pg"
        found = await to_the_end(
            asyncio.to_thread(
                find_binaries, binaries, account, system=SYSTEM_FOLDER, fallback=place
            )
        )
        await to_the_end(asyncio.to_thread(stop_leftover, data))
        await to_the_end(
            asyncio.to_thread(cluster.initialise, data, found, account, durable=durable)
        )
        socket = socket_folder(place, account)
        if socket.parent != place:
            cleanup.callback(shutil.rmtree, socket, ignore_errors=True)
            _take_lock(socket, cleanup)
        ours = Server(place, socket, found, account, durable)
        cleanup.push_async_callback(lambda: to_the_end(ours.stop()))
        await ours.start()
        yield ours


def _place(
    folder: Path | None, account: Account | None, cleanup: contextlib.AsyncExitStack, *, fresh: bool
) -> Path:
    if fresh:
        place = temporary(account)
        cleanup.callback(shutil.rmtree, place, ignore_errors=True)
        return place
    try:
        place = (folder or default_folder(account)).expanduser().absolute()
    except RuntimeError as error:
        raise EmbeddedError(f"{folder}: there is no such home folder") from error
    prepare(place, account)
    return place.resolve()


def _take_lock(folder: Path, cleanup: contextlib.AsyncExitStack) -> None:
    lock = Lock(folder)
    lock.take()
    cleanup.callback(lock.release)


async def to_the_end(work: Awaitable[T]) -> T:
    """Wait for `work` even if we are cancelled meanwhile; the cancellation goes on afterwards.

    For what may not be left half done: a thread goes on though nobody waits for it any more.
    """
    working = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not working.done():
        try:
            await asyncio.wait([working])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    return working.result()

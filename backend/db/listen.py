"""The one connection of a process on which it hears other processes, and tells them.

It is none of the pool's: LISTEN belongs to a session for as long as that lives, and so do its
settings. It needs a session to itself, so an address that leads to a pooler is refused: there it
would hear nothing, and never know.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import asyncpg
import msgspec

from backend.db.errors import BROKEN, DatabaseError, UnavailableError, translated
from backend.db.statements import one, run, statements

_SQL = statements("listen")

CHANNEL = "fencepost_news"
NAME = "fencepost live"
"""What the session is called in the server's own list."""

SETTINGS = {
    "application_name": NAME,
    # It writes nothing, so nothing need be on a disk before the next word is said.
    "synchronous_commit": "off",
    # Where a network swallows everything, the server too must notice that nobody listens any more.
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
_CLOSE_WITHIN = 0.5  # seconds


class SessionRow(msgspec.Struct, frozen=True):
    """The server process behind a session."""

    pid: int


class PooledError(DatabaseError):
    """The address leads to a pooler, behind which nobody can listen."""


async def notify_all(conn: Any, payloads: Sequence[str]) -> None:
    """Send payloads to all who listen."""
    await run(_SQL["notify_all"], conn, channel=CHANNEL, payloads=payloads)


async def find_session(conn: Any) -> SessionRow:
    """Find the server process that serves this connection."""
    return await one(_SQL["find_session"], SessionRow, conn)


async def speaks_to_server(conn: Any) -> bool:
    """Tell whether a connection leads to a server process, and not to a pooler before it.

    A pooler makes up the number that it hands to its clients.
    """
    return bool((await find_session(conn)).pid == conn.get_server_pid())


class Line:
    """The open connection, as an async context manager: opened, listened on, and lost at some time.

    `heard` gets each payload, whoever sent it; it must not raise. `lost` is called when the
    connection ends, for whatever reason.
    """

    def __init__(
        self,
        url: str,
        heard: Callable[[str], None],
        lost: Callable[[], None],
        *,
        answer_within: float,
    ) -> None:
        self._url = url
        self._heard = heard
        self._lost = lost
        self._answer_within = answer_within
        self._open: asyncpg.Connection[asyncpg.Record] | None = None

    async def __aenter__(self) -> Self:
        """Connect and listen. Raises UnavailableError, or PooledError."""
        try:
            self._open = await asyncpg.connect(
                self._url,
                timeout=self._answer_within,
                command_timeout=self._answer_within,
                server_settings=SETTINGS,
            )
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise UnavailableError(f"no line to the database: {type(error).__name__}") from error
        try:
            self._open.add_termination_listener(lambda _: self._lost())
            await self._begin(self._open)
        except BaseException as error:
            self._open.terminate()
            raise _ours(error) from error
        return self

    async def _begin(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        if not await speaks_to_server(connection):
            raise PooledError("set FENCEPOST_LISTEN_URL to an address of the server itself")
        await connection.add_listener(CHANNEL, self._take)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Hang up."""
        connection, self._open = self._open, None
        if connection is not None:
            with contextlib.suppress(OSError, TimeoutError, asyncpg.PostgresError, *BROKEN):
                await connection.close(timeout=_CLOSE_WITHIN)

    @property
    def is_up(self) -> bool:
        """Whether the connection is there, as far as can be told from here."""
        return self._open is not None and not self._open.is_closed()

    async def tell(self, payloads: Sequence[str]) -> None:
        """Send payloads. Raises a DatabaseError if they may not have been sent."""
        try:
            await notify_all(self._open, payloads)
        except Exception as error:
            raise _ours(error) from error

    async def probe(self) -> None:
        """Ask for a sign of life. Raises a DatabaseError if none comes in time."""
        try:
            await find_session(self._open)
        except Exception as error:
            raise _ours(error) from error

    def _take(self, _connection: Any, _pid: int, _channel: str, payload: Any) -> None:
        if isinstance(payload, str):
            self._heard(payload)


def _ours(error: BaseException) -> BaseException:
    """Return the error of ours for whatever a driver says; a cancellation stays one."""
    if not isinstance(error, Exception) or isinstance(error, DatabaseError):
        return error
    ours = translated(error, committing=False)
    if isinstance(ours, asyncpg.PostgresError | asyncio.IncompleteReadError):
        return UnavailableError(type(error).__name__)
    return ours

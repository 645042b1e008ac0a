"""Connections: a bounded pool, transactions, and what is checked before any work begins.

    async with Database(url) as database:
        async with database.transaction() as connection:
            await claim_next(connection, ...)

Nothing in the house changes a session: settings are made for one transaction. So a connection
goes back to the pool as it is, without the round trip of a reset; after a cancellation or a broken
line it is thrown away instead, for nobody knows what it is still doing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Protocol, Self

import asyncpg
import msgspec

from backend.db import migrate
from backend.db.errors import BROKEN, DatabaseError, UnavailableError, translated
from backend.db.listen import speaks_to_server
from backend.db.statements import one, statement

OLDEST = 15
_CLOSE_WITHIN = 1.0  # seconds
_ANSWER_WITHIN = 10.0
"""Seconds to wait for the answer to a statement. The server's own limit is half of it, so that this
one ends only what waits for a server, or a network, that says nothing any more."""
_DURABLE_COMMITS = ("on", "remote_apply")


class Connection(Protocol):
    """What a connection can do: a driver's own, or one that a pool lends."""

    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:
        """Run a statement; return its status."""

    async def fetch(self, query: str, *args: Any, timeout: float | None = None) -> list[Any]:
        """Run a statement; return its records."""

    async def fetchrow(self, query: str, *args: Any, timeout: float | None = None) -> Any | None:
        """Run a statement; return its first record."""

    async def fetchval(
        self, query: str, *args: Any, column: int = 0, timeout: float | None = None
    ) -> Any:
        """Run a statement; return one value of its first record."""


class Guarantees(msgspec.Struct, frozen=True):
    """What the server promises: see `guarantees` in `sql/queries/setup.sql`."""

    major: int
    fsync: str
    full_page_writes: str
    synchronous_commit: str
    true_clock: bool | None


class UnfitError(DatabaseError):
    """The database can't keep our promises; the message says which and what to do."""


class Database:
    """A pool of connections to one database as one role.

    `durable=False` skips the check that commits survive a crash, `true_clock=False` the check that
    the clock is the server's own: for tests and simulations. `statement_cache=0` is for a pooler
    that gives each transaction another session.
    """

    def __init__(  # noqa: PLR0913 - what a pool is, and what tests change
        self,
        url: str,
        *,
        size: int = 10,
        acquire_within: float = 5.0,
        answer_within: float = _ANSWER_WITHIN,
        durable: bool = True,
        true_clock: bool = True,
        statement_cache: int = 100,
    ) -> None:
        self._url = url
        self._size = size
        self._acquire_within = acquire_within
        self._answer_within = answer_within
        self._durable = durable
        self._true_clock = true_clock
        self._statement_cache = statement_cache
        self._open: asyncpg.Pool[asyncpg.Record] | None = None

    async def __aenter__(self) -> Self:
        """Open the pool and check the database. Raises UnavailableError or UnfitError."""
        try:
            # A pool belongs to the loop in which it is made, so it is made here.
            self._open = await asyncpg.create_pool(
                self._url,
                min_size=1,
                max_size=self._size,
                statement_cache_size=self._statement_cache,
                max_inactive_connection_lifetime=300,
                timeout=10,
                command_timeout=self._answer_within,
                reset=_leave_as_it_is,
            )
        except (OSError, TimeoutError, asyncpg.PostgresError) as error:
            raise UnavailableError(f"the database can't be reached: {error}") from error
        try:
            async with self.transaction() as connection:
                await self._refuse_pooler(connection)
                await self._check(connection)
        except BaseException:
            self._open.terminate()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Close the pool; whoever still holds a connection loses it after a while."""
        pool, self._open = self._pool, None
        try:
            async with asyncio.timeout(_CLOSE_WITHIN):
                await pool.close()
        except TimeoutError:
            pool.terminate()

    @property
    def url(self) -> str:
        """The address, for those who need a connection of their own."""
        return self._url

    @property
    def _pool(self) -> asyncpg.Pool[asyncpg.Record]:
        assert self._open is not None, "a Database is used inside `async with`"
        return self._open

    @contextlib.asynccontextmanager
    async def transaction(self, *, readonly: bool = False) -> AsyncIterator[Connection]:
        """Lend a connection with a transaction, committed at the end or, after an error, undone.

        Raises the errors of `backend.db.errors`. An OutcomeUnknownError means that the commit was
        under way when the line broke.
        """
        connection = await self._acquire()
        committing = False
        try:
            transaction = connection.transaction(readonly=readonly)
            await transaction.start()
            try:
                yield connection
            except Exception as error:
                if not isinstance(error, (*BROKEN, TimeoutError)):
                    await transaction.rollback()
                raise
            committing = True
            await transaction.commit()
        except BaseException as error:
            if isinstance(error, (*BROKEN, TimeoutError)) or not isinstance(error, Exception):
                with contextlib.suppress(asyncpg.InterfaceError):  # the pool was faster
                    connection.terminate()
            ours = translated(error, committing=committing)
            if ours is error:
                raise
            raise ours from error
        finally:
            await self._pool.release(connection)

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Lend a connection on which each statement commits by itself.

        For work that is one statement: it saves the two round trips of a transaction. Raises the
        errors of `backend.db.errors`; when the line breaks, whether the statement happened is
        unknown.
        """
        connection = await self._acquire()
        try:
            yield connection
        except BaseException as error:
            if isinstance(error, (*BROKEN, TimeoutError)) or not isinstance(error, Exception):
                with contextlib.suppress(asyncpg.InterfaceError):  # the pool was faster
                    connection.terminate()
            ours = translated(error, committing=True)
            if ours is error:
                raise
            raise ours from error
        finally:
            await self._pool.release(connection)

    async def _acquire(self) -> asyncpg.pool.PoolConnectionProxy[asyncpg.Record]:
        try:
            return await self._pool.acquire(timeout=self._acquire_within)
        except (TimeoutError, OSError, *BROKEN, asyncpg.TooManyConnectionsError) as error:
            raise UnavailableError(str(error) or "no free connection in time") from error

    async def _refuse_pooler(self, connection: Any) -> None:
        """Refuse to keep statements prepared in sessions that a pooler hands from one to another.

        There a name that we prepared may stand for a statement of somebody else's.
        """
        if self._statement_cache and not await speaks_to_server(connection):
            raise UnfitError(
                "there is a pooler before the database: set FENCEPOST_LISTEN_URL to an address of"
                " the server itself, or FENCEPOST_STATEMENT_CACHE=0"
            )

    async def _check(self, connection: Connection) -> None:
        """Refuse a database that can't keep what we promise to clients."""
        found = await one(statement("setup", "guarantees"), Guarantees, connection)
        for problem in _problems(found, durable=self._durable, true_clock=self._true_clock):
            raise UnfitError(problem)
        try:
            missing = await migrate.pending(connection)
        except migrate.MigrationError as error:
            raise UnfitError(str(error)) from error
        if missing:
            raise UnfitError(f"the schema lacks {', '.join(missing)}: run `fencepost migrate`")


def _problems(found: Guarantees, *, durable: bool, true_clock: bool) -> list[str]:
    problems = []
    if found.major < OLDEST:
        problems.append(f"PostgreSQL {OLDEST} or newer is needed; this is {found.major}")
    if durable:
        safe = {
            "fsync": found.fsync == "on",
            "full_page_writes": found.full_page_writes == "on",
            "synchronous_commit": found.synchronous_commit in _DURABLE_COMMITS,
        }
        problems += [
            f"{name} must be on, or an acknowledged verdict could be lost"
            for name, holds in safe.items()
            if not holds
        ]
    if true_clock and found.true_clock is False:
        problems.append("fencepost.clock() was replaced: leases would not follow the real time")
    return problems


async def _leave_as_it_is(connection: object) -> None:
    """Keep a session as it is: see the top of the module."""

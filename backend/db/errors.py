"""What can go wrong between us and the database, in words that do not name a driver.

DatabaseError
├── UnavailableError      no connection, or none free in time: nothing was done
├── ContentionError       a lock, a deadlock, a time limit: nothing was done, try again
├── OutcomeUnknownError   the connection broke while the commit was under way: ask again
└── ConstraintError       a rule of the schema refused a row: it names the rule
"""

from __future__ import annotations

import asyncpg


class DatabaseError(Exception):
    """The root of this tree."""


class UnavailableError(DatabaseError):
    """There is no database to talk to; nothing was done, so trying again is safe."""


class ContentionError(DatabaseError):
    """Others were in the way for too long; nothing was done, so trying again is safe."""


class OutcomeUnknownError(DatabaseError):
    """The commit may have happened or not: the same request with its own key finds out."""


class ConstraintError(DatabaseError):
    """A constraint refused a row. `constraint` is its name, empty if it has none."""

    def __init__(self, error: asyncpg.PostgresError) -> None:
        self.constraint: str = getattr(error, "constraint_name", None) or ""
        self.sqlstate: str = error.sqlstate or ""
        super().__init__(f"{self.constraint or 'a constraint'} refused a row ({self.sqlstate})")


# After these a connection is in doubt and is thrown away rather than reused.
BROKEN = (
    ConnectionError,
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.ConnectionFailureError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.CannotConnectNowError,
    asyncpg.ProtocolViolationError,  # what a pooler says that is out of servers, or out of patience
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)
_CROWDED = (
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.QueryCanceledError,
)
_TURNED_AWAY = (asyncpg.TooManyConnectionsError, asyncpg.InsufficientResourcesError)


def translated(error: BaseException, *, committing: bool) -> BaseException:
    """Return the error of ours that says what happened, or the error itself.

    Anything else a driver raises is a fault of the program's and stays as it is.
    """
    if isinstance(error, asyncpg.DataError):  # an InterfaceError by descent, but a fault of ours
        return error
    if isinstance(error, (*BROKEN, TimeoutError)):
        kind = OutcomeUnknownError if committing else UnavailableError
        return kind(str(error) or type(error).__name__)
    if isinstance(error, _CROWDED):
        return ContentionError(str(error))
    if isinstance(error, _TURNED_AWAY):
        return UnavailableError(str(error))
    if isinstance(error, asyncpg.IntegrityConstraintViolationError):
        return ConstraintError(error)
    return error

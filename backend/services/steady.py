"""Patience with the database: what was surely not done is tried again, a few times and not longer.

A deadlock, a lock that did not come free, a pool without a connection: the whole transaction runs
again after a short random wait. What may have been done is never tried again here: the client is
told so and finds out by sending the same request again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

import structlog

from backend.db.errors import (
    ConstraintError,
    ContentionError,
    OutcomeUnknownError,
    UnavailableError,
)
from backend.domain.refusals import Busy, OutcomeUnknown

_log = structlog.get_logger(__name__)

T = TypeVar("T")

ATTEMPTS = 4
WITHIN_SECONDS = 4.0
FIRST_WAIT_SECONDS = 0.02
RETRY_AFTER_MS = 1_000
"""When a client that was turned away may come again."""


async def steadily(work: Callable[[], Awaitable[T]]) -> T:
    """Run `work`, which is one or more whole transactions that may be repeated together.

    Raises Busy when the database stays out of reach or in the way, OutcomeUnknown when it went
    away in the middle of a commit, and whatever else `work` raises.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + WITHIN_SECONDS
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await work()
        except (ContentionError, UnavailableError) as error:
            if attempt == ATTEMPTS or clock() >= until:
                raise Busy("try again shortly", retry_after_ms=RETRY_AFTER_MS) from error
            _log.info("database.tried_again", attempt=attempt, fault=type(error).__name__)
        except OutcomeUnknownError as error:
            raise OutcomeUnknown(
                "send the same request again: what happened is then told, nothing happens twice",
                retry_after_ms=RETRY_AFTER_MS,
            ) from error
        # Random, so that those who met do not meet again.
        await asyncio.sleep(FIRST_WAIT_SECONDS * 2**attempt * random.random())  # noqa: S311
    raise AssertionError("the last attempt returns or raises")


async def once_more(work: Callable[[], Awaitable[T]], keys: Collection[str]) -> T:
    """Run `work`, one whole transaction, and again if one of these unique keys refused its row.

    Whoever was first under that key has committed by then, so the second run finds what he left.
    Raises what the second run does, and whatever else `work` raises.
    """
    try:
        return await work()
    except ConstraintError as error:
        if error.constraint not in keys:
            raise
        _log.info("database.met", key=error.constraint)
    return await work()

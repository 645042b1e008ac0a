"""Patience with the database: what was surely not done is tried again, a few times and not longer.

A deadlock, a lock that did not come free, a pool without a connection: the whole transaction runs
again after a short random wait. What may have been done is never tried again here: the client is
told so and finds out by sending the same request again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina

from backend.db.errors import ContentionError, OutcomeUnknownError, UnavailableError
from backend.domain.refusals import Busy, OutcomeUnknown

T = TypeVar("T")

ATTEMPTS = 4
WITHIN_SECONDS = 4.0
RETRY_AFTER_MS = 1_000
"""When a client that was turned away may come again."""


async def steadily(work: Callable[[], Awaitable[T]]) -> T:
    """Run `work`, which is one or more whole transactions that may be repeated together.

    Raises Busy when the database stays out of reach or in the way, OutcomeUnknown when it went
    away in the middle of a commit, and whatever else `work` raises.
    """
    patience = stamina.retry_context(
        on=(ContentionError, UnavailableError),
        attempts=ATTEMPTS,
        timeout=WITHIN_SECONDS,
        wait_initial=0.02,
        wait_max=0.25,
        wait_jitter=0.05,
    )
    try:
        async for attempt in patience:
            with attempt:
                return await work()
    except (ContentionError, UnavailableError) as error:
        raise Busy("try again shortly", retry_after_ms=RETRY_AFTER_MS) from error
    except OutcomeUnknownError as error:
        raise OutcomeUnknown(
            "send the same request again: what happened is then told, and nothing happens twice",
            retry_after_ms=RETRY_AFTER_MS,
        ) from error
    raise AssertionError("stamina neither returned nor raised")

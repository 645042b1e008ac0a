"""The stored number by which a queue is served.

The live priority of an item is `severity*10 + log10(1 + followers) + 0.5*minutes waited`. All items
of a queue age alike, so their order at any moment is that of the same sum with the minute at which
each was queued subtracted: a number that never changes, computed once and indexed.

With the shipped weights ten million followers are worth fourteen minutes of waiting more than none,
and twelve minutes more than ten followers; one step of severity is worth twenty.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import log10

import msgspec

MAX_FOLLOWERS = 2**63 - 1
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
"""Where ranks count their minutes from; any fixed moment would do."""

_MINUTE = timedelta(minutes=1)


class Weights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one step of severity, one power of ten of followers and one minute are worth."""

    severity: float = 10.0
    exposure: float = 1.0
    age_per_minute: float = 0.5


def base(severity: int, followers: int, weights: Weights) -> float:
    """Return the part of the rank that has nothing to do with time.

    Raises ValueError for followers outside [0, 2**63 - 1]: one row that can't be ranked must never
    reach a table that every claim reads.
    """
    if not 0 <= followers <= MAX_FOLLOWERS:
        raise ValueError("followers lie in [0, 2**63 - 1]")
    return severity * weights.severity + weights.exposure * log10(1 + followers)


def rank(base: float, enqueued_at_minutes: float, weights: Weights) -> float:
    """Return the stored rank of an item first queued at that minute (see `minutes`)."""
    return base - weights.age_per_minute * enqueued_at_minutes


def minutes(at: datetime) -> float:
    """Return the minutes from `EPOCH` to `at`, which has an offset; negative before it."""
    return (at - EPOCH) / _MINUTE

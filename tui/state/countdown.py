"""How much of a lease is left, on a clock that is handed in.

The server says how many milliseconds were left when it answered; from then on only elapsed time
counts, so that a wrong wall clock on either side changes nothing. At zero the lease has lapsed but
is not lost: it stays with its holder until somebody else claims the item.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum, unique

SOON = 0.5
URGENT = 0.2
_MINUTE = 60
_HOUR = 3600


@unique
class Stage(StrEnum):
    """What the bar says."""

    CALM = "calm"
    SOON = "soon"
    URGENT = "urgent"
    LAPSED = "lapsed"


@dataclass(frozen=True, slots=True)
class Countdown:
    """A deadline and the whole time, in seconds of the caller's clock."""

    deadline: float
    ttl: float

    def left(self, now: float) -> float:
        """Return the seconds left; negative once it has lapsed."""
        return self.deadline - now

    def share(self, now: float) -> float:
        """Return the part that is left, from 0 to 1."""
        return min(max(self.left(now) / self.ttl, 0.0), 1.0) if self.ttl > 0 else 0.0

    def stage(self, now: float) -> Stage:
        """Return what to make of it."""
        if self.left(now) <= 0:
            return Stage.LAPSED
        share = self.share(now)
        if share < URGENT:
            return Stage.URGENT
        return Stage.SOON if share <= SOON else Stage.CALM


def from_answer(expires_in_ms: int, ttl_ms: int, sent: float, received: float) -> Countdown:
    """Return the countdown an answer stands for: half of the round trip has passed already."""
    return Countdown(
        deadline=received + expires_in_ms / 1000 - max(received - sent, 0.0) / 2,
        ttl=max(ttl_ms, 1) / 1000,
    )


def clock_words(seconds: float) -> str:
    """Return `2:14`, `1:02:03`, or `+0:41` for time past the deadline."""
    sign = "+" if seconds < 0 else ""
    whole = int(abs(seconds))
    if whole >= _HOUR:
        return f"{sign}{whole // _HOUR}:{whole % _HOUR // _MINUTE:02}:{whole % _MINUTE:02}"
    return f"{sign}{whole // _MINUTE}:{whole % _MINUTE:02}"


@dataclass(frozen=True, slots=True)
class Renewal:
    """When to ask for more time: only after real input, at most once in a quarter of the lease."""

    renewed_at: float
    input_at: float | None = None
    capped: bool = False

    def touched(self, now: float) -> Renewal:
        """Return this after a key or a turn of the wheel."""
        return replace(self, input_at=now)

    def renewed(self, now: float, capped: bool) -> Renewal:
        """Return this after the server has answered."""
        return Renewal(renewed_at=now, capped=capped)

    def due(self, countdown: Countdown, now: float) -> bool:
        """Tell whether to renew: under half left, input since the last time, not too soon."""
        if self.capped or self.input_at is None or self.input_at <= self.renewed_at:
            return False
        low = countdown.left(now) > 0 and countdown.share(now) < SOON
        return low and now - self.renewed_at >= countdown.ttl / 4

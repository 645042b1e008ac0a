"""What a session is made of: an item in hand, a call in trouble, an item that moved on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, unique

from shared.evidence import Evidence
from shared.wire.queue import Lease
from tui.state.countdown import Countdown, Renewal


@unique
class Why(StrEnum):
    """Why there is no item on the screen."""

    START = "start"
    EMPTY = "empty"
    PAUSED = "paused"
    RELEASED = "released"
    DISTRESS = "distress"
    PARKED = "parked"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Held:
    """An item in hand: its lease, the evidence that was proven against its hash, the time left."""

    lease: Lease
    evidence: Evidence
    countdown: Countdown
    renewal: Renewal
    resumed: bool = False
    taken_over: bool = False
    """Whether it was brought here from another terminal of mine."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A call that has not got through: since when, in words, and how often it was tried."""

    since: float
    words: str
    tries: int = 1


@dataclass(frozen=True, slots=True)
class StaleFacts:
    """What the server said of an item that moved on."""

    now: str
    since: str | None = None
    holder: str | None = None
    can_reclaim: bool = False
    goes_on: str = ""
    """The note that lies in the other terminal now, where that reads the same files as this one."""

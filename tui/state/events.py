"""What can happen to a session: answers of the server, and what the person does."""

from __future__ import annotations

from dataclasses import dataclass

from shared.wire.queue import DecisionPart, Lease, QueueFigures
from tui.state.countdown import Countdown
from tui.state.held import Held, StaleFacts, Why
from tui.state.pending import Pending


@dataclass(frozen=True, slots=True)
class ClaimSent:
    """The person asked for an item."""

    claim_key: str
    at: float


@dataclass(frozen=True, slots=True)
class Leased:
    """An item arrived."""

    held: Held
    note: str = ""
    figures: QueueFigures | None = None


@dataclass(frozen=True, slots=True)
class NotProven:
    """An item arrived whose evidence is not what was hashed."""

    lease: Lease
    words: str


@dataclass(frozen=True, slots=True)
class NothingFree:
    """There was none to have."""

    figures: QueueFigures | None
    why: Why = Why.EMPTY
    words: str = ""


@dataclass(frozen=True, slots=True)
class Troubled:
    """A try did not get through."""

    at: float
    words: str


@dataclass(frozen=True, slots=True)
class VerdictMeant:
    """Letter and digit were pressed."""

    pending: Pending
    at: float


@dataclass(frozen=True, slots=True)
class Recorded:
    """The verdict stands; `next` is what came back with it, if an item was asked for."""

    decision: DecisionPart
    replayed: bool = False
    next: Leased | NotProven | NothingFree | None = None


@dataclass(frozen=True, slots=True)
class LeaseStale:
    """The verdict was refused, since the item moved on."""

    facts: StaleFacts


@dataclass(frozen=True, slots=True)
class EvidenceMoved:
    """The verdict was refused, since the evidence moved on."""

    fresh: Held | None


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """The verdict was refused for another reason, said in words."""

    words: str


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    """More time was given for this token."""

    lease_token: str
    countdown: Countdown
    capped: bool
    at: float


@dataclass(frozen=True, slots=True)
class InputSeen:
    """A key or the wheel."""

    at: float


@dataclass(frozen=True, slots=True)
class Noted:
    """The note of the item is now this."""

    note: str


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The item was released, or lost while releasing it."""

    why: Why
    words: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """The person has read the dialog and goes on with the new evidence."""


Event = (
    ClaimSent | Leased | NotProven | NothingFree | Troubled | VerdictMeant | Recorded | LeaseStale
    | EvidenceMoved | NotRecorded | LeaseRenewed | InputSeen | Noted | GivenBack | Taken
)  # fmt: skip

ANSWERS = (Leased, NotProven, NothingFree, Recorded, LeaseStale, EvidenceMoved, LeaseRenewed)
"""The events that show that the server answers."""

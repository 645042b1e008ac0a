"""What can happen to a session: answers of the server, and what the person does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from shared.wire.evidence import EvidenceChange
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
class TakeOverSent:
    """The person asked for the item that he holds in another terminal."""

    claim_key: str
    at: float


@dataclass(frozen=True, slots=True)
class HeldElsewhere:
    """The item that is mine is open in another terminal of mine."""

    lease: Lease
    countdown: Countdown


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
    next: Leased | NotProven | NothingFree | HeldElsewhere | None = None


@dataclass(frozen=True, slots=True)
class LeaseStale:
    """The verdict was refused, since the item moved on."""

    facts: StaleFacts


@dataclass(frozen=True, slots=True)
class EvidenceMoved:
    """The verdict was refused, since the evidence moved on; `change` is what the server says."""

    fresh: Held | None
    change: EvidenceChange | None = None


@dataclass(frozen=True, slots=True)
class ChangeTold:
    """The stream says that the evidence of this item moved on; what to is being asked."""

    item_id: str


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The lease in hand is still mine; this is what the server shows of it now."""

    held: Held


@dataclass(frozen=True, slots=True)
class Lost:
    """The lease with this token is mine no more, and the reason is not a deed of this terminal."""

    lease_token: str
    facts: StaleFacts


@dataclass(frozen=True, slots=True)
class ChangeAsked:
    """The person wants to see what changed in the evidence."""


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
class ParkedAway:
    """The item was set aside until then."""

    content_id: str
    wake_at: datetime
    asked: bool = False
    """Whether a question went to the producer with it."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The person has read the dialog and goes on with the new evidence."""


@dataclass(frozen=True, slots=True)
class AskedTwice:
    """The person was told what the verdict contradicts in the new evidence."""


Event = (
    ClaimSent | TakeOverSent | HeldElsewhere | Leased | NotProven | NothingFree | Troubled
    | VerdictMeant | Recorded | LeaseStale | EvidenceMoved | ChangeTold | Refreshed | Lost
    | ChangeAsked | NotRecorded | LeaseRenewed | InputSeen | Noted | GivenBack | ParkedAway | Taken
    | AskedTwice
)  # fmt: skip

ANSWERS = (
    HeldElsewhere, Leased, NotProven, NothingFree, Recorded, LeaseStale, EvidenceMoved, Refreshed,
    Lost, LeaseRenewed, ParkedAway,
)  # fmt: skip
"""The events that show that the server answers."""

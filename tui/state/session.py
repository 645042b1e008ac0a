"""The reviewer's session as a closed union of states; `tui.state.advance` moves it.

    Idle ──claim──▶ Claiming ──lease──▶ Reviewing ──verdict──▶ Submitting ──receipt──▶ Idle
                     ▲  │  │               ▲  │ │                  │
                     │  │  └─nothing─▶ Idle├──┼─┼──not recorded────┤
           take over │  └─bad hash─▶       │  │ └─lost─▶ Stale ◀───┤ stale
                     │      Unshowable     │  └──d──▶ Changed ◀────┘ evidence changed
                  Elsewhere                └──enter, esc──┘

While a verdict's outcome is unknown the session stays in Submitting: there is no second verdict,
no edit and no claim. Pure: no clock, no network, no terminal.
"""

from __future__ import annotations

from dataclasses import dataclass

from shared.wire.evidence import EvidenceChange
from shared.wire.queue import Lease, QueueFigures
from tui.state.countdown import Countdown
from tui.state.held import Held, StaleFacts, Trouble, Why
from tui.state.pending import Pending


@dataclass(frozen=True, slots=True)
class Idle:
    """No item, and none asked for."""

    why: Why
    figures: QueueFigures | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Claiming:
    """An item was asked for, with this key; `over`: the one in another terminal of mine."""

    claim_key: str
    since: float
    trouble: Trouble | None = None
    over: bool = False


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """My item is open in another terminal of mine; nothing of it is shown here."""

    lease: Lease
    countdown: Countdown


@dataclass(frozen=True, slots=True)
class Reviewing:
    """An item is on the screen; `words` is what the status row has to say, if anything.

    `told`: the evidence is said to have changed, and is being fetched. `fresh`: it has, and this is
    what holds now. In both the keys of the verdicts are dead. `before` is the evidence that was
    looked at earlier under this lease.
    """

    held: Held
    note: str = ""
    words: str = ""
    told: bool = False
    fresh: Held | None = None
    before: Held | None = None


@dataclass(frozen=True, slots=True)
class Submitting:
    """A verdict is on its way; `held` is None when it was left over from an earlier run."""

    pending: Pending
    held: Held | None
    since: float
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Stale:
    """The item moved on. `pending` is the verdict that was not recorded, None if none was sent."""

    pending: Pending | None
    facts: StaleFacts
    held: Held | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """The evidence moved on, from `old` to `fresh`, and the difference is being read.

    `pending` is the verdict that was not recorded, None if none was sent. `change` is what the
    server said of it. `taken`: it has been read before, and the new evidence lies on the desk.
    `asked`: the person knows what the verdict would contradict now.
    """

    pending: Pending | None
    old: Held | None
    fresh: Held | None
    change: EvidenceChange | None = None
    note: str = ""
    taken: bool = False
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Unshowable:
    """A lease whose evidence can't be proven, and so is not shown."""

    lease: Lease
    words: str


Session = (
    Idle | Claiming | Elsewhere | Reviewing | Submitting | Stale | Changed | Unshowable
)  # fmt: skip


def frozen(session: Session) -> bool:
    """Tell whether a verdict's outcome is unknown, so that nothing else may be begun."""
    return isinstance(session, Submitting)


def disarmed(session: Session) -> bool:
    """Tell whether what lies on the desk is no longer what a verdict would be bound to."""
    return isinstance(session, Reviewing) and (session.told or session.fresh is not None)


def held_item(session: Session) -> Held | None:
    """Return the item that this session holds and could still decide, if any."""
    if isinstance(session, (Reviewing, Submitting)):
        return session.held
    return session.fresh if isinstance(session, Changed) else None


def shown_item(session: Session) -> Held | None:
    """Return the item on the screen; it stays there under the dialogs."""
    match session:
        case Changed(fresh=held, taken=True):
            return held
        case Reviewing(held) | Submitting(held=held) | Stale(held=held) | Changed(old=held):
            return held
        case _:
            return None


def lease_token(session: Session) -> str:
    """Return the token under which the item on the screen is or was held; empty without one."""
    if isinstance(session, Elsewhere):
        return session.lease.lease_token
    if isinstance(session, Changed) and session.pending is not None:
        return session.pending.request.lease_token
    held = shown_item(session)
    return held.lease.lease_token if held is not None else ""


def shown_lease(session: Session) -> tuple[str, str] | None:
    """Return what identifies the item on the screen, if one is there."""
    held = shown_item(session)
    return None if held is None else (held.lease.lease_token, held.lease.evidence_hash)


def lease_of(session: Session) -> Lease | None:
    """Return the lease that this session could still give back."""
    if isinstance(session, Unshowable):
        return session.lease
    held = held_item(session)
    return held.lease if held is not None else None

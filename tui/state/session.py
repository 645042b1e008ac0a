"""The reviewer's session as a closed union of states, and the one function that moves it.

    Idle ──claim──▶ Claiming ──lease──▶ Reviewing ──verdict──▶ Submitting ──receipt──▶ Idle
                       │                   ▲                       │
                       ├─nothing─▶ Idle    ├─────not recorded──────┤
                       │                   │                       ├─stale─▶ Stale ──▶ Claiming
                       └─bad hash─▶ Unshowable  └──enter── Changed ◀┘ evidence changed

While a verdict's outcome is unknown the session stays in Submitting: there is no second verdict,
no edit and no claim. Pure: no clock, no network, no terminal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from shared.wire.queue import Lease, QueueFigures
from tui.state.events import (
    ClaimSent,
    Event,
    EvidenceMoved,
    GivenBack,
    InputSeen,
    Leased,
    LeaseRenewed,
    LeaseStale,
    Noted,
    NothingFree,
    NotProven,
    NotRecorded,
    Recorded,
    Taken,
    Troubled,
    VerdictMeant,
)
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
    """An item was asked for, with this key."""

    claim_key: str
    since: float
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Reviewing:
    """An item is on the screen; `words` is what the status row has to say, if anything."""

    held: Held
    note: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Submitting:
    """A verdict is on its way; `held` is None when it was left over from an earlier run."""

    pending: Pending
    held: Held | None
    since: float
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Stale:
    """The item moved on; the verdict was not recorded."""

    pending: Pending
    facts: StaleFacts
    held: Held | None


@dataclass(frozen=True, slots=True)
class Changed:
    """The evidence moved on; the verdict was not recorded, and `fresh` is what holds now."""

    pending: Pending
    old: Held | None
    fresh: Held | None


@dataclass(frozen=True, slots=True)
class Unshowable:
    """A lease whose evidence can't be proven, and so is not shown."""

    lease: Lease
    words: str


Session = Idle | Claiming | Reviewing | Submitting | Stale | Changed | Unshowable


def frozen(session: Session) -> bool:
    """Tell whether a verdict's outcome is unknown, so that nothing else may be begun."""
    return isinstance(session, Submitting)


def held_item(session: Session) -> Held | None:
    """Return the item that this session holds and could still decide, if any."""
    if isinstance(session, (Reviewing, Submitting)):
        return session.held
    return session.fresh if isinstance(session, Changed) else None


def advance(session: Session, event: Event) -> Session:
    """Return the session after `event`; an event that means nothing here changes nothing."""
    match session:
        case Idle() | Unshowable() | Stale():
            return _resting(session, event)
        case Claiming():
            return _claiming(session, event)
        case Reviewing():
            return _reviewing(session, event)
        case Submitting():
            return _submitting(session, event)
        case Changed():
            return _changed(session, event)
        case _:
            assert_never(session)


def _arrived(session: Session, event: Event) -> Session:
    """Take in what a claim came back with."""
    match event:
        case Leased(held, note, _):
            return Reviewing(held, note)
        case NotProven(lease, words):
            return Unshowable(lease, words)
        case NothingFree(figures, why, words):
            return Idle(why, figures, words)
        case _:
            return session


def _resting(session: Idle | Unshowable | Stale, event: Event) -> Session:
    match event:
        case ClaimSent(claim_key, at):
            return Claiming(claim_key, at)
        case VerdictMeant(pending, at):
            return Submitting(pending, None, at)
        case GivenBack(why, words):
            return Idle(why, words=words)
        case _:
            return _arrived(session, event)


def _claiming(session: Claiming, event: Event) -> Session:
    if isinstance(event, Troubled):
        return replace(session, trouble=_again(session.trouble, event))
    return _arrived(session, event)


def _reviewing(session: Reviewing, event: Event) -> Session:
    match event:
        case VerdictMeant(pending, at):
            return Submitting(pending, session.held, at)
        case GivenBack(why, words):
            return Idle(why, words=words)
        case Leased() | NotProven():
            return _arrived(session, event)
        case _:
            return _still_reviewing(session, event)


def _still_reviewing(session: Reviewing, event: Event) -> Session:
    match event:
        case Noted(note):
            return replace(session, note=note, words="")
        case NotRecorded(words):
            return replace(session, words=words)
        case LeaseRenewed():
            return replace(session, held=_timed(session.held, event), words="")
        case _:
            return replace(session, held=_timed(session.held, event))


def _submitting(session: Submitting, event: Event) -> Session:
    if isinstance(event, Troubled):
        return replace(session, trouble=_again(session.trouble, event))
    if session.held is not None and isinstance(event, (InputSeen, LeaseRenewed)):
        return replace(session, held=_timed(session.held, event))
    if isinstance(event, Recorded):
        return Idle(Why.PAUSED) if event.next is None else _arrived(session, event.next)
    return _turned_down(session, event)


def _turned_down(session: Submitting, event: Event) -> Session:
    match event:
        case LeaseStale(facts):
            return Stale(session.pending, facts, session.held)
        case EvidenceMoved(fresh):
            return Changed(session.pending, session.held, fresh)
        case NotRecorded(words):
            return _refused(session, words)
        case _:
            return session


def _refused(session: Submitting, words: str) -> Session:
    if session.held is None:
        return Idle(Why.REFUSED, words=words)
    return Reviewing(session.held, session.pending.request.note or "", words)


def _changed(session: Changed, event: Event) -> Session:
    match event:
        case Taken() if session.fresh is not None:
            return Reviewing(session.fresh, session.pending.request.note or "")
        case ClaimSent(claim_key, at) if session.fresh is None:
            return Claiming(claim_key, at)
        case GivenBack(why, words):
            return Idle(why, words=words)
        case _ if session.fresh is not None:
            return replace(session, fresh=_timed(session.fresh, event))
        case _:
            return session


def _timed(held: Held, event: Event) -> Held:
    """Count input and renewals; other events change nothing."""
    match event:
        case InputSeen(at):
            return replace(held, renewal=held.renewal.touched(at))
        case LeaseRenewed(token, countdown, capped, at) if token == held.lease.lease_token:
            return replace(held, countdown=countdown, renewal=held.renewal.renewed(at, capped))
        case _:
            return held


def _again(trouble: Trouble | None, event: Troubled) -> Trouble:
    if trouble is None:
        return Trouble(event.at, event.words)
    return Trouble(trouble.since, event.words, trouble.tries + 1)

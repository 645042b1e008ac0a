"""The one function that moves a session. Pure: no clock, no network, no terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from tui.state.events import (
    AskedTwice,
    ChangeAsked,
    ChangeTold,
    ClaimSent,
    Event,
    EvidenceMoved,
    GivenBack,
    HeldElsewhere,
    InputSeen,
    Leased,
    LeaseRenewed,
    LeaseStale,
    Lost,
    Noted,
    NothingFree,
    NotProven,
    NotRecorded,
    ParkedAway,
    Recorded,
    Refreshed,
    Taken,
    TakeOverSent,
    Troubled,
    VerdictMeant,
)
from tui.state.held import Held, Trouble, Why
from tui.state.session import (
    Changed,
    Claiming,
    Elsewhere,
    Idle,
    Reviewing,
    Session,
    Stale,
    Submitting,
    Unshowable,
)


def advance(session: Session, event: Event) -> Session:
    """Return the session after `event`; an event that means nothing here changes nothing."""
    match session:
        case Idle() | Unshowable() | Stale() | Elsewhere():
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
        case HeldElsewhere(lease, countdown):
            return Elsewhere(lease, countdown)
        case NotProven(lease, words):
            return Unshowable(lease, words)
        case NothingFree(figures, why, words):
            return Idle(why, figures, words)
        case _:
            return session


def _resting(session: Idle | Unshowable | Stale | Elsewhere, event: Event) -> Session:
    match event:
        case ClaimSent(claim_key, at):
            return Claiming(claim_key, at)
        case TakeOverSent(claim_key, at) if isinstance(session, Elsewhere):
            return Claiming(claim_key, at, over=True)
        case VerdictMeant(pending, at):
            return Submitting(pending, None, at)
        case GivenBack(why, words):
            return Idle(why, words=words)
        case Lost(token, facts) if isinstance(session, Stale):
            mine = session.held is not None and session.held.lease.lease_token == token
            known = replace(facts, goes_on=facts.goes_on or session.facts.goes_on)
            return replace(session, facts=known) if mine else session
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
        case GivenBack() | ParkedAway() | Lost():
            return _parted(session, event)
        case Leased() | NotProven():
            return _arrived(session, event)
        case ChangeTold() | Refreshed() | ChangeAsked():
            return _looked(session, event)
        case _:
            return _still_reviewing(session, event)


def _parted(session: Reviewing, event: GivenBack | ParkedAway | Lost) -> Session:
    """Let go of the item in hand."""
    match event:
        case GivenBack(why, words):
            return Idle(why, words=words)
        case ParkedAway():
            return Idle(Why.PARKED)
        case Lost(token, facts) if token == session.held.lease.lease_token:
            return Stale(None, facts, session.held, session.note)
        case _:
            return session


def _looked(session: Reviewing, event: ChangeTold | Refreshed | ChangeAsked) -> Session:
    """Follow the evidence of the item in hand."""
    held = session.held
    match event:
        case ChangeTold(item_id) if item_id == held.lease.item_id:
            return replace(session, told=True)
        case Refreshed(now) if now.lease.lease_token == held.lease.lease_token:
            if now.lease.evidence_hash == held.lease.evidence_hash:
                return replace(session, held=_same(held, now), told=False, fresh=None)
            return replace(session, told=False, fresh=_same(held, now, now))
        case ChangeAsked() if session.fresh is not None:
            return Changed(None, held, session.fresh, note=session.note)
        case ChangeAsked() if session.before is not None and not session.told:
            return Changed(None, session.before, held, note=session.note, taken=True)
        case _:
            return session


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
    note = session.pending.request.note or ""
    match event:
        case LeaseStale(facts):
            return Stale(session.pending, facts, session.held, note)
        case EvidenceMoved(fresh, change):
            return Changed(session.pending, session.held, fresh, change, note)
        case NotRecorded(words):
            return _refused(session, words)
        case _:
            return session


def _refused(session: Submitting, words: str) -> Session:
    if session.held is None:
        return Idle(Why.REFUSED, words=words)
    return Reviewing(session.held, session.pending.request.note or "", words)


def _changed(session: Changed, event: Event) -> Session:
    fresh = session.fresh
    match event:
        case ClaimSent(claim_key, at) if fresh is None:
            return Claiming(claim_key, at)
        case GivenBack(why, words):
            return Idle(why, words=words)
        case _ if fresh is not None:
            return _reading(session, fresh, event)
        case _:
            return _out_of_reach(session, event)


def _out_of_reach(session: Changed, event: Event) -> Session:
    """Take in what a later look finds, where the new evidence could not be had at first."""
    token = session.pending.request.lease_token if session.pending is not None else ""
    match event:
        case Refreshed(now) if now.lease.lease_token == token:
            return replace(session, fresh=now)
        case Lost(lost, facts) if lost == token:
            return Stale(session.pending, facts, session.old, session.note)
        case _:
            return session


def _reading(session: Changed, fresh: Held, event: Event) -> Session:
    """Go on from the difference that is being read: `fresh` is in hand."""
    match event:
        case Taken():
            return Reviewing(fresh, session.note, before=session.old)
        case VerdictMeant(pending, at):
            return Submitting(pending, fresh, at)
        case Lost(token, facts) if token == fresh.lease.lease_token:
            return Stale(session.pending, facts, session.old or fresh, session.note)
        case Refreshed(now) if now.lease.lease_token == fresh.lease.lease_token:
            return _again_changed(session, fresh, now)
        case AskedTwice():
            return replace(session, asked=True)
        case _:
            return replace(session, fresh=_timed(fresh, event))


def _again_changed(session: Changed, fresh: Held, now: Held) -> Changed:
    """Follow the evidence while its difference is being read."""
    if now.lease.evidence_hash == fresh.lease.evidence_hash:
        return replace(session, fresh=_same(fresh, now))
    old = fresh if session.taken else session.old
    return replace(session, old=old, fresh=_same(fresh, now, now), asked=False, taken=False)


def _same(held: Held, now: Held, shown: Held | None = None) -> Held:
    """Return the item with the time that is left now, under the input that was counted so far."""
    return replace(shown or held, countdown=now.countdown, renewal=held.renewal)


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

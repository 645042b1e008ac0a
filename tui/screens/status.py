"""What the status row says when nothing else has happened, and of leaving."""

from __future__ import annotations

from shared.vocabulary import ItemNow
from tui.screens.bench import Bench
from tui.state.session import (
    Changed,
    Elsewhere,
    Idle,
    Reviewing,
    Session,
    Stale,
    Submitting,
    lease_of,
)

_THERE = "It is open in your other terminal."
_TAKEN_OVER = "Taken over: the other terminal can't decide it any more."
_RESUMED = "Resumed: this item was still yours. Nothing is sent until you pick a reason."


def resting_words(bench: Bench) -> str:
    """Return what the status row says when nothing else has happened."""
    if bench.me is None:
        return "Not signed in yet."
    match bench.session:
        case Idle():
            return "No item is held."
        case Elsewhere():
            return "Your item is open in another terminal. Nothing runs here."
        case Stale() | Changed() as session:
            return _moved_on(session)
        case Reviewing(held) if held.resumed:
            return _TAKEN_OVER if held.taken_over else _RESUMED
        case _:
            return "Ready. Nothing is sent until you pick a reason."


def _moved_on(session: Stale | Changed) -> str:
    """Say in a few words that a verdict from here would not count, or did not."""
    there = isinstance(session, Stale) and session.facts.now == ItemNow.TAKEN_OVER
    if session.pending is not None:
        return f"Not recorded. {_THERE}" if there else "Not recorded."
    if isinstance(session, Changed):
        return "The evidence changed."
    return _THERE if there else "This item is not yours any more."


def back_words(session: Session) -> str:
    """Say how to leave, and what becomes of the item."""
    if isinstance(session, Elsewhere):
        return "ctrl+q signs off; the item stays open in your other terminal"
    if isinstance(session, Submitting):
        return "ctrl+q signs off; your verdict is kept, and is sent first at the next start"
    given = lease_of(session) is not None
    return "ctrl+q signs off and gives the item back" if given else "ctrl+q signs off"


def leaving_words(notes: int) -> str:
    """Return what is asked before a session ends that drops what was not sent."""
    if notes == 1:
        return "1 note not sent: ctrl+q again drops it"
    return f"{notes} notes not sent: ctrl+q again drops them"

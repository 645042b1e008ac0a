"""Notes that were not sent: nothing that was typed is lost. Pure; kept in memory alone."""

from __future__ import annotations

from dataclasses import dataclass

from tui.state.events import Event, LeaseStale, Lost, Noted, Recorded
from tui.state.session import Changed, Reviewing, Session, Submitting


@dataclass(frozen=True, slots=True)
class KeptNote:
    """A note and the item it was written for."""

    item_id: str
    content_id: str
    text: str


def note_of(session: Session) -> KeptNote | None:
    """Return the note that goes with the next verdict of this session, if there is one."""
    match session:
        case Reviewing(held, note) | Changed(fresh=held, note=note) if note and held is not None:
            return KeptNote(held.lease.item_id, held.lease.content_id, note)
        case Submitting(pending) | Changed(pending) if pending is not None and pending.request.note:
            return KeptNote(pending.item_id, pending.content_id, pending.request.note)
        case _:
            return None


def left_behind(before: Session, event: Event, after: Session) -> KeptNote | None:
    """Return the note that `event` took away, unless it was sent, rewritten, or went along."""
    note = note_of(before)
    if note is None or isinstance(event, (Recorded, Noted)) or note_of(after) == note:
        return None
    if isinstance(event, (Lost, LeaseStale)) and event.facts.goes_on == note.text:
        return None
    return note


def still_kept(
    kept: list[KeptNote], before: Session, event: Event, after: Session
) -> list[KeptNote]:
    """Return the kept notes without what was sent just now, and what lies with its item again."""
    sent = note_of(before) if isinstance(event, Recorded) else None
    for there in (sent, note_of(after)):
        if there is not None:
            kept = without(kept, there.item_id, there.text)
    return kept


def without(kept: list[KeptNote], item_id: str, text: str) -> list[KeptNote]:
    """Return the notes but those of this item that `text` holds."""
    return [note for note in kept if note.item_id != item_id or note.text not in text]


def joined(here: str, kept: str) -> str:
    """Return both texts as one note."""
    return f"{here} {kept}" if here else kept

"""What lies over the item: going to another queue, and taking a kept note over."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from enum import StrEnum, unique

from shared.vocabulary import ReleaseReason
from shared.wire.queue import NOTE_LIMIT
from tui.background import begin
from tui.desk import Desk
from tui.messages import Purpose
from tui.screens.reading import Reader
from tui.state.events import Noted
from tui.state.held import Held
from tui.state.notes import KeptNote, joined, without
from tui.state.pending import Draft
from tui.state.session import Claiming, Reviewing, frozen, held_item, lease_of
from tui.widgets.note import NoteInput

_STEPS = {"down": 1, "j": 1, "up": -1, "k": -1}
_FROZEN = "A verdict is on its way and its outcome is unknown: nothing else until it is."


@unique
class Overlay(StrEnum):
    """What lies over the item and has the keys."""

    NONE = "none"
    HELP = "help"
    QUEUES = "queues"
    NOTE = "note"
    DIALOG = "dialog"
    KEPT = "kept"
    PARK = "park"


class Switcher(Reader):
    """Adds the lists of queues and of kept notes.

    A lease in hand is given back before another queue is begun.
    """

    def __init__(self, desk: Desk, queue: str | None, hint: str) -> None:
        super().__init__(desk, queue, hint)
        self.overlay = Overlay.NONE
        self.writing = KeptNote("", "", "")
        """The item that the line being written is for, and the note as it was."""
        self.question = ""
        """What the producer would be asked about the item in hand."""
        self.highlight = 0

    @property
    def line(self) -> NoteInput | None:
        """The line that is being written, if one is."""
        return next((line for line in self.query(NoteInput) if line.writing), None)

    def unsent(self) -> list[KeptNote]:
        """Return what was written and would end with the session: also the line being written."""
        unsent = super().unsent()
        line, held = self.line, held_item(self.session)
        if line is not None and line.purpose is not Purpose.TIME and line.value.strip():
            now = replace(self.writing, text=line.value.strip())
            return [now, *without(unsent, now.item_id, now.text)]
        if held is not None and self.question:
            asked = KeptNote(held.lease.item_id, held.lease.content_id, self.question)
            return [*unsent, asked]
        return unsent

    def queues_key(self, key: str) -> None:
        """Handle a key while the list of queues is open."""
        queues = self.me.queues if self.me is not None else ()
        if key in ("escape", "q"):
            self.overlay = Overlay.NONE
        elif key in _STEPS:
            self._step(key, len(queues))
        elif key == "enter" and queues:
            self._go_to(queues[self.highlight].queue)
        elif key.isdigit() and 1 <= int(key) <= len(queues):
            self._go_to(queues[int(key) - 1].queue)

    def _step(self, key: str, rows: int) -> None:
        self.highlight = min(max(self.highlight + _STEPS[key], 0), max(rows - 1, 0))

    def _go_to(self, queue: str) -> None:
        self.overlay = Overlay.NONE
        lease = lease_of(self.session)
        if lease is None:
            self.queue_name = queue
            self.start_claim()
        elif queue != lease.queue:
            self.going_to = queue
            self.start_release(lease, ReleaseReason.SIGN_OFF)

    def do_queues(self) -> None:
        """Ask in which queue to work."""
        if frozen(self.session):
            self.said = _FROZEN
        elif not isinstance(self.session, Claiming):
            self.open_queues()
            self.start_look()

    def open_queues(self) -> None:
        """Ask in which queue to work."""
        names = [view.queue for view in self.me.queues] if self.me is not None else []
        self.highlight = names.index(self.queue_name) if self.queue_name in names else 0
        self.overlay = Overlay.QUEUES
        self.repaint()

    # notes that were not sent

    def do_kept(self) -> None:
        """Show the notes that were not sent."""
        if not self.kept:
            self.said = "No note is kept: none was left unsent."
            return
        self.highlight = 0
        self.overlay = Overlay.KEPT

    def kept_key(self, key: str) -> None:
        """Handle a key while the kept notes are open."""
        if key in ("escape", "q", "D"):
            self.overlay = Overlay.NONE
        elif key in _STEPS:
            self._step(key, len(self.kept))
        elif key == "enter":
            self._take_over(self.kept[self.highlight])
        elif key.isdigit() and 1 <= int(key) <= len(self.kept):
            self._take_over(self.kept[int(key) - 1])

    def _take_over(self, kept: KeptNote) -> None:
        """Add a kept note to the note of the item in hand; without an item it stays kept."""
        if not isinstance(self.session, Reviewing):
            return
        self.overlay = Overlay.NONE
        note = joined(self.session.note, kept.text)
        if len(note) > NOTE_LIMIT:
            self.said = f"Both are too long for one note of {NOTE_LIMIT} characters; it stays kept."
            return
        self.kept.remove(kept)
        self.said = "Taken over: it goes with your verdict; c to read and change it."
        self.note_down(self.session.held, note)

    def note_down(self, held: Held, note: str) -> None:
        """Make `note` the note of the item in hand, and write it down."""
        self.take(Noted(note))
        self.keep_draft(held, note)

    def keep_draft(self, held: Held, note: str, after: float = 0.0) -> None:
        """Write down what was typed of the item in hand, `after` some seconds."""
        lease = held.lease
        draft = Draft(
            item_id=lease.item_id, lease_token=lease.lease_token, note=note, question=self.question
        )

        async def work() -> None:
            await asyncio.sleep(after)
            try:
                await self.desk.keep_draft(draft)
            except OSError as error:
                self.said = f"What you type can't be saved here ({error.strerror}): send it soon."
                self.repaint()

        begin(self, work, "note")

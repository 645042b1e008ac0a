"""Setting an item aside: the form's keys, the lines that are typed into it, and sending it off."""

from __future__ import annotations

from functools import partial

from tui.clock import day_words, today
from tui.desk import Desk
from tui.messages import LineDropped, LineSaved, Purpose
from tui.screens.bench import NOTE_KEPT, key_clock
from tui.screens.switching import Overlay, Switcher
from tui.state.events import Event, ParkedAway
from tui.state.held import Held
from tui.state.notes import KeptNote, without
from tui.state.parking import TYPED_STEPS, Form, Meant, Step, back, press, typed
from tui.state.session import Reviewing, disarmed, held_item
from tui.widgets.note import NoteInput

_CHANGED = "The evidence changed: d shows how, and then P parks."


class Parker(Switcher):
    """Adds the form. What the producer is asked is kept until it is sent, whatever happens."""

    def __init__(self, desk: Desk, queue: str | None, hint: str) -> None:
        super().__init__(desk, queue, hint)
        self.form: Form | None = None

    def take(self, event: Event) -> None:
        """Let `event` move the session; a question of an item that went is kept as a note is."""
        before = held_item(self.session)
        super().take(event)
        now = held_item(self.session)
        if _item(before) == _item(now):
            return
        if before is not None and self.question and not isinstance(event, ParkedAway):
            lease = before.lease
            self.keep(KeptNote(lease.item_id, lease.content_id, self.question))
        draft = self.desk.journal.draft(_item(now)) if now is not None else None
        self.question = draft.question if draft is not None else ""
        self.kept = without(self.kept, _item(now), self.question)
        self.form = None
        self.clear_files()
        self.workers.cancel_group(self, "note")  # what is still to be written is of the old item
        if self.overlay is Overlay.PARK:
            self.overlay = Overlay.NONE
        self.repaint()

    def do_park(self) -> None:
        """Ask why and until when to set the item aside."""
        if disarmed(self.session):
            self.said = _CHANGED
        elif isinstance(self.session, Reviewing) and not self.parting:
            self.form, self.overlay = Form(opened_at=key_clock()), Overlay.PARK

    def park_key(self, key: str, at: float) -> None:
        """Handle a key while the form is open and nothing is being typed."""
        if self.form is None:
            self.overlay = Overlay.NONE
            return
        self.form, meant = press(self.form, key, at, today())
        self._go_on(meant)

    def park_typed(self, message: LineSaved) -> None:
        """Take in a line that was typed into the form."""
        asks = message.purpose is Purpose.QUESTION
        if self.form is None or not isinstance(self.session, Reviewing):
            if asks and message.text:
                self.keep(KeptNote(self.writing.item_id, self.writing.content_id, message.text))
                self.said = NOTE_KEPT
            self.repaint()
            return
        if asks:
            self.question = message.text
        self.form, meant = typed(self.form, message.text, today(), key_clock())
        self._go_on(meant)
        self.repaint()

    def park_left(self, message: LineDropped) -> None:
        """Go a step back; what was asked so far is kept."""
        if self.form is not None:
            self.form = back(self.form, key_clock())
        if message.purpose is Purpose.QUESTION and self.question:
            self.said = "The question is kept, and is there again when you come back to it."

    def _go_on(self, meant: Meant | None) -> None:
        """Send what is complete, or ask what comes next."""
        held = held_item(self.session)
        if self.form is None or held is None:
            self.overlay = Overlay.NONE
        elif meant is not None:
            self.form, self.overlay = None, Overlay.NONE
            self.said = "Parking …"
            self.workers.cancel_group(self, "note")
            note = self.session.note if isinstance(self.session, Reviewing) else ""
            self.part(held.lease, partial(self.desk.park, held.lease, meant, note))
        elif self.form.step in TYPED_STEPS:
            lease = held.lease
            self.writing = KeptNote(lease.item_id, lease.content_id, "")
            asks = self.form.step is Step.QUESTION
            text, purpose = (self.question, Purpose.QUESTION) if asks else ("", Purpose.TIME)
            about = _chosen(self.form) if asks else ""
            self.query_one(NoteInput).open(text, purpose, self.form.words, about)


def _chosen(form: Form) -> str:
    """Return until when it will be parked, as it was chosen."""
    if form.until is None:
        return "Parked until new evidence"
    return f"Parked until {day_words(form.until)}"


def _item(held: Held | None) -> str:
    return held.lease.item_id if held is not None else ""

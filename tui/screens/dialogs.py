"""The dialogs that the session itself opens: an item that moved on, evidence that changed.

They wait while a line is being written, and take keys once they have been there long enough.
"""

from __future__ import annotations

from shared.vocabulary import ItemNow
from tui.background import begin
from tui.desk import Desk
from tui.messages import Purpose
from tui.screens.bench import NOTE_KEPT, key_clock
from tui.screens.parking import Parker
from tui.screens.switching import Overlay
from tui.state.events import AskedTwice, Taken
from tui.state.hand import ARM_SECONDS
from tui.state.offers import LETTERS, can_send, contradiction
from tui.state.session import Changed, Reviewing, Stale, held_item

_STEPS = {"j": 1, "down": 1, "k": -1, "up": -1, "space": 8, "b": -8, "pagedown": 8, "pageup": -8}
WRITING_SECONDS = 0.3


class Dialogs(Parker):
    """Adds the dialogs. `dialog_top` is the first of their rows that is shown."""

    def __init__(self, desk: Desk, queue: str | None, hint: str) -> None:
        super().__init__(desk, queue, hint)
        self.dialog_top = 0
        self.edit_again: tuple[str, str] | None = None
        """Letter and reason of a verdict that is to be meant anew on changed evidence."""
        self._dialog_of = ""

    def sync_dialog(self) -> None:
        """Open the dialog that the session asks for, or close it."""
        if self.line is not None:
            return
        wanted = isinstance(self.session, (Stale, Changed))
        subject = _subject(self.session)
        if wanted and (self.overlay is not Overlay.DIALOG or subject != self._dialog_of):
            self.overlay, self.dialog_since, self.dialog_top = Overlay.DIALOG, key_clock(), 0
        elif not wanted and self.overlay is Overlay.DIALOG:
            self.overlay = Overlay.NONE
        self._dialog_of = subject

    def dialog_key(self, key: str, at: float) -> None:
        """Handle a key of a dialog, once it has been on the screen long enough to be read."""
        if key in _STEPS:
            self.dialog_top = max(self.dialog_top + _STEPS[key], 0)
        elif at < self.dialog_since + ARM_SECONDS:
            return
        elif isinstance(self.session, Changed):
            self._changed_key(self.session, key)
        elif isinstance(self.session, Stale):
            self._stale_key(self.session, key)

    def _stale_key(self, stale: Stale, key: str) -> None:
        if key == "C" and stale.facts.can_reclaim:
            self.start_reclaim()
        elif key == "enter" and stale.facts.now == ItemNow.TAKEN_OVER:
            begin(self, self.resume, "main")
        elif key == "enter":
            self.start_claim()
            self.said = NOTE_KEPT if stale.note != stale.facts.goes_on else ""

    def _changed_key(self, changed: Changed, key: str) -> None:
        """Send, edit, or go on to the item; without the new evidence only the next item is left."""
        if changed.fresh is None:
            if key == "enter":
                self.start_claim()
                self.said = NOTE_KEPT if changed.note else ""
        elif key in ("escape", "q", "d") or (key == "enter" and changed.pending is None):
            self.take(Taken())
        elif key == "enter" and can_send(changed):
            if contradiction(changed) and not changed.asked:
                self.take(AskedTwice())
            else:
                self.send_again(changed)
        elif key == "e" and changed.pending is not None:
            request = changed.pending.request
            self.edit_again = (LETTERS[request.verdict], request.reason)
            self.take(Taken())

    def typing(self, text: str, purpose: Purpose, after: float = WRITING_SECONDS) -> None:
        """Write down what is being typed, a moment later, so that a crash does not take it."""
        held = held_item(self.session)
        if held is None or purpose is Purpose.TIME:
            return
        if held.lease.item_id != self.writing.item_id:
            return
        note = self.session.note if isinstance(self.session, (Reviewing, Changed)) else ""
        if purpose is Purpose.QUESTION:
            self.question = text
        else:
            note = text
        self.keep_draft(held, note, after)


def _subject(session: object) -> str:
    """Return what a dialog speaks of; another subject is another dialog."""
    if isinstance(session, Changed):
        shown = session.fresh.lease.evidence_hash if session.fresh is not None else ""
        return f"changed {shown}"
    return "stale" if isinstance(session, Stale) else ""

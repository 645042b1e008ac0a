"""One line to write in: a note, a question to the producer, or a time."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from shared.wire.item import QUESTION_LIMIT
from shared.wire.queue import NOTE_LIMIT
from tui.messages import LineDropped, LineSaved, Purpose
from tui.safe_text import safe_line
from tui.widgets.paint import Content, words

_TITLES = {
    Purpose.NOTE: "Note: goes with your verdict, seen by leads and auditors",
    Purpose.QUESTION: "Question to the producer: name no colleague",
    Purpose.TIME: "Park until: 2026-12-24 14:00, 14:00, 3d, 2h",
}
_LIMITS = {Purpose.NOTE: NOTE_LIMIT, Purpose.QUESTION: QUESTION_LIMIT, Purpose.TIME: 40}
_KEYS = {
    Purpose.NOTE: "enter keeps · esc leaves",
    Purpose.QUESTION: "enter parks and sends it · esc back, kept",
    Purpose.TIME: "enter parks · esc back",
}


class NoteInput(Input):
    """Takes a line; enter keeps it, escape leaves off.

    What is pasted or typed is made safe before it is shown, as everything else is.
    """

    DEFAULT_CSS = """
    NoteInput {
        layer: over; dock: bottom; margin: 0 0 2 0; height: 3; border: round $approve;
        background: $panel; display: none;
    }
    """

    def __init__(self) -> None:
        super().__init__(id="note", max_length=NOTE_LIMIT, select_on_focus=False)
        self.purpose = Purpose.NOTE

    def validate_value(self, value: str) -> str:
        """Make safe what was typed or pasted."""
        return safe_line(value)[: _LIMITS[self.purpose]]

    @property
    def writing(self) -> bool:
        """Whether somebody is writing."""
        return self.display

    def open(
        self, text: str, purpose: Purpose = Purpose.NOTE, wrong: str = "", about: str = ""
    ) -> None:
        """Begin writing; `wrong` says what was the matter with the last answer.

        `about` is what was chosen before it, and leads the title.
        """
        self.purpose = purpose
        self.max_length = _LIMITS[purpose]
        title = _TITLES[purpose]
        self.border_title = _caption(f"{about} · {title}" if about else title, "")
        self.border_subtitle = _caption(wrong or _KEYS[purpose], "$review" if wrong else "")
        self.value = text
        self.cursor_position = len(self.value)
        self.display = True
        self.focus()

    def close(self) -> None:
        """Leave off writing."""
        self.display = False
        self.screen.set_focus(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the line."""
        event.stop()
        self.close()
        self.post_message(LineSaved(self.purpose, self.value.strip()))

    def on_key(self, event: events.Key) -> None:
        """Leave off with escape."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.close()
            self.post_message(LineDropped(self.purpose))


def _caption(text: str, style: str) -> Content:
    return words(text, style)

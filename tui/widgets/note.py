"""One line to write a note in."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from shared.wire.queue import NOTE_LIMIT
from tui.messages import NoteDropped, NoteSaved
from tui.safe_text import safe_line
from tui.widgets.paint import words


class NoteInput(Input):
    """Takes a note; enter keeps it, escape leaves it as it was.

    What is pasted or typed is made safe before it is shown, as everything else is.
    """

    DEFAULT_CSS = """
    NoteInput {
        layer: over; dock: bottom; margin: 0 0 1 0; height: 3; border: round $approve;
        background: $panel; display: none;
    }
    """

    def __init__(self) -> None:
        super().__init__(id="note", max_length=NOTE_LIMIT, select_on_focus=False)
        self.border_title = words("Note: goes with your verdict, seen by leads and auditors")
        self.border_subtitle = words("enter keeps · esc leaves")

    def validate_value(self, value: str) -> str:
        """Make safe what was typed or pasted."""
        return safe_line(value)[:NOTE_LIMIT]

    def open(self, note: str) -> None:
        """Begin writing."""
        self.value = note
        self.display = True
        self.focus()

    def close(self) -> None:
        """Leave off writing."""
        self.display = False
        self.screen.set_focus(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the note."""
        event.stop()
        self.close()
        self.post_message(NoteSaved(self.value.strip()))

    def on_key(self, event: events.Key) -> None:
        """Leave off with escape."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.close()
            self.post_message(NoteDropped())

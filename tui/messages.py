"""What workers and widgets tell a screen."""

from __future__ import annotations

from textual.message import Message

from tui.state.events import Event


class Happened(Message):
    """Something happened to the session: an answer came, or a try failed."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class NoteSaved(Message):
    """The note was written."""

    def __init__(self, note: str) -> None:
        super().__init__()
        self.note = note


class NoteDropped(Message):
    """Writing the note was left off."""

"""What workers and widgets tell a screen."""

from __future__ import annotations

from enum import StrEnum, unique

from textual.message import Message

from tui.state.events import Event


class Happened(Message):
    """Something happened to the session: an answer came, or a try failed.

    `parted`: it answers a deed that ends a lease.
    """

    def __init__(self, event: Event, *, parted: bool = False) -> None:
        super().__init__()
        self.event = event
        self.parted = parted


class Found(Message):
    """A look at the item that is or was held under this token found this."""

    def __init__(self, lease_token: str, event: Event | None) -> None:
        super().__init__()
        self.lease_token = lease_token
        self.event = event


@unique
class Purpose(StrEnum):
    """What a line is written for."""

    NOTE = "note"
    QUESTION = "question"
    TIME = "time"


class LineSaved(Message):
    """A line was written."""

    def __init__(self, purpose: Purpose, text: str) -> None:
        super().__init__()
        self.purpose = purpose
        self.text = text


class LineDropped(Message):
    """Writing a line was left off."""

    def __init__(self, purpose: Purpose) -> None:
        super().__init__()
        self.purpose = purpose

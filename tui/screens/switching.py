"""What lies over the item, and going from one queue to another."""

from __future__ import annotations

from enum import StrEnum, unique

from shared.vocabulary import ReleaseReason
from tui.desk import Desk
from tui.screens.bench import lease_of
from tui.screens.reading import Reader
from tui.state.session import Claiming, frozen

_FROZEN = "A verdict is on its way and its outcome is unknown: nothing else until it is."


@unique
class Overlay(StrEnum):
    """What lies over the item and has the keys."""

    NONE = "none"
    HELP = "help"
    QUEUES = "queues"
    NOTE = "note"
    DIALOG = "dialog"


class Switcher(Reader):
    """Adds the list of queues. A lease in hand is given back before another queue is begun."""

    def __init__(self, desk: Desk, queue: str | None, hint: str) -> None:
        super().__init__(desk, queue, hint)
        self.overlay = Overlay.NONE
        self.dialog_since = 0.0
        self.highlight = 0
        self.said = ""

    def queues_key(self, key: str) -> None:
        """Handle a key while the list of queues is open."""
        queues = self.me.queues if self.me is not None else ()
        if key in ("escape", "q"):
            self.overlay = Overlay.NONE
        elif key in ("down", "j", "up", "k"):
            step = 1 if key in ("down", "j") else -1
            self.highlight = min(max(self.highlight + step, 0), max(len(queues) - 1, 0))
        elif key == "enter" and queues:
            self._go_to(queues[self.highlight].queue)
        elif key.isdigit() and 1 <= int(key) <= len(queues):
            self._go_to(queues[int(key) - 1].queue)

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

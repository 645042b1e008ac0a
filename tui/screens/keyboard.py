"""What the keys of a reviewer's screen do: one action, one small method."""

from __future__ import annotations

from enum import StrEnum, unique

from textual import events

from shared.vocabulary import ReleaseReason
from tui.keymap import REVIEW, action_of
from tui.messages import NoteSaved
from tui.screens.bench import key_clock, lease_of
from tui.screens.work import Workbench
from tui.state.events import InputSeen, Noted, Taken
from tui.state.hand import ARM_SECONDS, Send, press
from tui.state.session import (
    Changed,
    Claiming,
    Idle,
    Reviewing,
    Stale,
    Submitting,
    Unshowable,
    frozen,
)
from tui.widgets.item import ItemPane
from tui.widgets.note import NoteInput
from tui.widgets.pane import Pane

_FROZEN = "A verdict is on its way and its outcome is unknown: nothing else until it is."


@unique
class Overlay(StrEnum):
    """What lies over the item and has the keys."""

    NONE = "none"
    HELP = "help"
    QUEUES = "queues"
    NOTE = "note"
    DIALOG = "dialog"


class Keyboard(Workbench):
    """Adds the keys. `overlay` has them first, then the hand, then the keymap."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]  # as Bench declares them
        self.overlay = Overlay.NONE
        self.dialog_since = 0.0
        self.highlight = 0
        self.said = ""
        self.active = "item"

    def on_key(self, event: events.Key) -> None:
        """Give a key to whatever has the keys at the moment."""
        if self.overlay is Overlay.NOTE:
            return
        event.stop()
        event.prevent_default()
        self.said = ""
        self._touch()
        if self.too_small():
            return
        if not self._overlay_key(event.key, event.time):
            self._free_key(event.key, event.time)
        self.repaint()

    def on_mouse_scroll_down(self) -> None:
        """Count the wheel as input."""
        self._touch()

    def on_mouse_scroll_up(self) -> None:
        """Count the wheel as input."""
        self._touch()

    def too_small(self) -> bool:
        """Tell whether the terminal is too small to decide anything in."""
        raise NotImplementedError

    def _touch(self) -> None:
        self.take(InputSeen(self.desk.now()))

    def _overlay_key(self, key: str, at: float) -> bool:
        """Handle a key of an overlay; return whether one was there."""
        match self.overlay:
            case Overlay.HELP:
                self.overlay = Overlay.NONE
            case Overlay.QUEUES:
                self._queues_key(key)
            case Overlay.DIALOG:
                self._dialog_key(key, at)
            case _:
                return False
        return True

    def _free_key(self, key: str, at: float) -> None:
        had_picker = self.hand.picker is not None
        if isinstance(self.session, Reviewing):
            self.hand, act = press(self.hand, key, at)
            if isinstance(act, Send):
                self.start_verdict(act)
                return
            if act is not None:
                self.start_release(self.session.held.lease, act.reason)
                return
        if had_picker or self.hand.picker is not None:
            return
        action = action_of(REVIEW, key)
        if action is not None:
            getattr(self, f"do_{action}")()

    def _dialog_key(self, key: str, at: float) -> None:
        """Leave a dialog with enter, once it has been on the screen long enough to be read."""
        if key != "enter" or at < self.dialog_since + ARM_SECONDS:
            return
        if isinstance(self.session, Changed) and self.session.fresh is not None:
            self.take(Taken())
        elif isinstance(self.session, (Stale, Changed)):
            self.start_claim()

    def _queues_key(self, key: str) -> None:
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

    # actions of the keymap

    def do_note(self) -> None:
        """Write a note."""
        if isinstance(self.session, Reviewing):
            self.overlay = Overlay.NOTE
            self.query_one(NoteInput).open(self.session.note)

    def do_renew(self) -> None:
        """Begin the lease's time anew."""
        if isinstance(self.session, Reviewing):
            self.start_renewal(self.session.held)

    def do_pause(self) -> None:
        """Pause after this item, or go on."""
        self.paused = not self.paused
        if not self.paused and isinstance(self.session, Idle) and self.queue_name:
            self.start_claim()

    def do_go_on(self) -> None:
        """Claim, when there is no item."""
        if isinstance(self.session, Unshowable):
            self.run_worker(self.resume(), group="main", exclusive=True)
        elif isinstance(self.session, Idle) and self.me is not None:
            self.paused = False
            self.start_claim() if self.queue_name else self.open_queues()

    def do_page_down(self) -> None:
        """Go a page down."""
        self._pane().scroll_by(self._pane().page())

    def do_page_up(self) -> None:
        """Go a page up."""
        self._pane().scroll_by(-self._pane().page())

    def do_line_down(self) -> None:
        """Go a line down."""
        self._pane().scroll_by(1)

    def do_line_up(self) -> None:
        """Go a line up."""
        self._pane().scroll_by(-1)

    def do_top(self) -> None:
        """Go to the beginning."""
        self._pane().scroll_to(y=0, animate=False)

    def do_bottom(self) -> None:
        """Go to the end of what is loaded; from there, load more."""
        pane = self._pane()
        if isinstance(pane, ItemPane) and pane.at_end and pane.load_more():
            return
        pane.scroll_to(y=pane.virtual_size.height, animate=False)

    def do_switch_pane(self) -> None:
        """Let the keys scroll the other pane."""
        self.active = "evidence" if self.active == "item" else "item"

    def do_wide(self) -> None:
        """Show the item alone, or both panes."""
        self.toggle_class("-alone")
        self.active = "item"

    def do_queues(self) -> None:
        """Ask in which queue to work."""
        if frozen(self.session):
            self.said = _FROZEN
        elif not isinstance(self.session, Claiming):
            self.open_queues()
            self.start_look()

    def do_help(self) -> None:
        """Show the keys."""
        self.overlay = Overlay.HELP

    def do_back(self) -> None:
        """Say how to leave; this key sits next to a verdict's and never does it."""
        self.said = "ctrl+q signs off and gives the item back"

    def do_sign_off(self) -> None:
        """Leave, after giving the item back."""
        self.app.run_worker(self.app.action_sign_off(), group="exit")  # type: ignore[attr-defined]  # only our application shows this screen

    def open_queues(self) -> None:
        """Ask in which queue to work."""
        names = [view.queue for view in self.me.queues] if self.me is not None else []
        self.highlight = names.index(self.queue_name) if self.queue_name in names else 0
        self.overlay = Overlay.QUEUES
        self.repaint()

    def on_note_saved(self, message: NoteSaved) -> None:
        """Keep the note with the item, and on disk."""
        self.overlay = Overlay.NONE
        if isinstance(self.session, Reviewing):
            lease = self.session.held.lease
            self.take(Noted(message.note))
            self.run_worker(self.desk.keep_note(lease, message.note), group="note")

    def on_note_dropped(self) -> None:
        """Go back to the item."""
        self.overlay = Overlay.NONE
        self.repaint()

    def _pane(self) -> Pane:
        return self.query_one(f"#{self.active}", Pane)

    def sync_dialog(self) -> None:
        """Open the dialog that the session asks for, or close it."""
        wanted = isinstance(self.session, (Stale, Changed))
        if wanted and self.overlay is not Overlay.DIALOG:
            self.overlay, self.dialog_since = Overlay.DIALOG, key_clock()
        elif not wanted and self.overlay is Overlay.DIALOG:
            self.overlay = Overlay.NONE
        if self.overlay is Overlay.NOTE and isinstance(self.session, Submitting):
            self.overlay = Overlay.NONE

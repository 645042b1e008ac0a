"""What the keys of a reviewer's screen do: one action, one small method."""

from __future__ import annotations

from dataclasses import replace

from textual import events
from textual.widgets import Input

from tui.background import begin
from tui.keymap import REVIEW, lookup
from tui.messages import LineDropped, LineSaved, Purpose
from tui.screens.bench import key_clock
from tui.screens.dialogs import Dialogs
from tui.screens.status import back_words
from tui.screens.switching import Overlay
from tui.state.events import ChangeAsked, InputSeen
from tui.state.hand import ARM_SECONDS, Send, press
from tui.state.notes import KeptNote
from tui.state.session import (
    Elsewhere,
    Idle,
    Reviewing,
    Unshowable,
    disarmed,
    held_item,
)
from tui.widgets.note import NoteInput

_SAME = "The evidence is as it was when you claimed the item."


class Keyboard(Dialogs):
    """Adds the keys. `overlay` has them first, then the hand, then the keymap."""

    def on_key(self, event: events.Key) -> None:
        """Give a key to whatever has the keys at the moment."""
        if self.line is not None:
            return
        event.stop()
        event.prevent_default()
        self.said, self.asked_about = "", []
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

    def on_input_changed(self, event: Input.Changed) -> None:
        """Count writing as input, and keep what is typed."""
        self.asked_about = []
        self._touch()
        if self.line is not None:
            self.typing(event.value, self.line.purpose)

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
                self.queues_key(key)
            case Overlay.KEPT:
                self.kept_key(key)
            case Overlay.PARK:
                self.park_key(key, at)
            case Overlay.DIALOG:
                self.dialog_key(key, at)
            case _:
                return False
        return True

    def _free_key(self, key: str, at: float) -> None:
        had_picker = self.hand.picker is not None
        if isinstance(self.session, Reviewing) and not disarmed(self.session) and not self.parting:
            self.hand, act = press(self.hand, key, at)
            self.said = self.hand.missed
            if isinstance(act, Send):
                self.start_verdict(act)
                return
            if act is not None:
                self.start_release(self.session.held.lease, act.reason)
                return
        if had_picker or self.hand.picker is not None:
            return
        action = lookup(REVIEW, key)
        if action is not None:
            getattr(self, f"do_{action}")()

    # actions of the keymap

    def do_note(self) -> None:
        """Write a note."""
        if isinstance(self.session, Reviewing):
            lease = self.session.held.lease
            self.overlay = Overlay.NOTE
            self.writing = KeptNote(lease.item_id, lease.content_id, self.session.note)
            self.query_one(NoteInput).open(self.session.note)

    def do_renew(self) -> None:
        """Begin the lease's time anew."""
        if isinstance(self.session, Reviewing):
            self.start_renewal(self.session.held)

    def do_pause(self) -> None:
        """Pause after the item that is here or being asked for; or end the pause."""
        if not isinstance(self.session, (Idle, Unshowable)):
            self.paused = not self.paused
        elif self.paused and self.queue_name:
            self.do_go_on()
        else:
            self.said = "No item is held, and no time runs: there is nothing to pause after."

    def do_go_on(self) -> None:
        """Claim, when there is no item."""
        if isinstance(self.session, Unshowable):
            begin(self, self.resume, "main")
        elif isinstance(self.session, Elsewhere):
            if key_clock() >= self.dialog_since + ARM_SECONDS:
                self.start_take_over()
        elif isinstance(self.session, Idle) and self.me is not None:
            self.paused = False
            self.start_claim() if self.queue_name else self.open_queues()

    def do_changes(self) -> None:
        """Show what changed in the evidence under this lease."""
        before = self.session
        self.take(ChangeAsked())
        if self.session is before and isinstance(before, Reviewing):
            self.said = "" if before.told else _SAME

    def do_help(self) -> None:
        """Show the keys."""
        self.overlay = Overlay.HELP

    def do_back(self) -> None:
        """Say how to leave; this key sits next to a verdict's and never does it."""
        self.said = back_words(self.session)

    def do_sign_off(self) -> None:
        """Leave, after giving the item back."""
        self.app.call_later(self.app.run_action, "sign_off")

    def on_line_saved(self, message: LineSaved) -> None:
        """Keep the note with the item it was written for, and on disk; else in memory."""
        self.asked_about = []
        if message.purpose is not Purpose.NOTE:
            self.park_typed(message)
            return
        self.overlay = Overlay.NONE
        held = held_item(self.session)
        if held is not None and held.lease.item_id == self.writing.item_id:
            self.said = "Note kept: it goes with your verdict." if message.text else ""
            self.note_down(held, message.text)
        elif message.text:
            self.keep(replace(self.writing, text=message.text))
        self.repaint()

    def on_line_dropped(self, message: LineDropped) -> None:
        """Go back to the item, with the note as it was."""
        self.asked_about = []
        if message.purpose is not Purpose.NOTE:
            self.park_left(message)
        else:
            self.overlay = Overlay.NONE
            self.typing(self.writing.text, Purpose.NOTE, after=0.0)
        self.repaint()

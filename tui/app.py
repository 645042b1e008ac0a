"""The application: puts the parts together, and leaves cleanly whichever way it has to leave."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from functools import partial
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from shared.client import ClientError
from shared.vocabulary import ReleaseReason
from shared.wire.queue import Lease
from tui.background import begin
from tui.cockpit.health import HealthScreen
from tui.desk import Desk
from tui.safe_text import safe_line
from tui.screens.bench import Bench
from tui.screens.review import ReviewScreen
from tui.settings import Settings
from tui.state.events import Leased, NotProven
from tui.state.session import Claiming, Submitting, lease_of
from tui.themes import theme_name, themes

RELEASE_SECONDS = 1.0
_LAST_RESORT_SECONDS = 2.0
CRASHED = 70


class FencepostApp(App[str]):
    """Runs the workstation or the cockpit; its result is the line to print on leaving."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "sign_off", show=False, priority=True),
        Binding("ctrl+c", "nothing", show=False, priority=True),
    ]

    def __init__(self, settings: Settings, desk: Desk) -> None:
        super().__init__()
        self.settings = settings
        self.desk = desk
        self.failure: BaseException | None = None
        self.left_leased: Lease | None = None
        """What an unexpected error left in hand."""
        self._leaving = False
        for theme in themes():
            self.register_theme(theme)
        self.theme = theme_name(settings.theme)

    def get_default_screen(self) -> Screen[None]:
        """Return the view that was asked for."""
        if self.settings.view == "lead":
            return HealthScreen(self.desk, self.settings.hint)
        return ReviewScreen(self.desk, self.settings.queue, self.settings.hint)

    def on_mount(self) -> None:
        """Leave cleanly on a closed window and on a request to end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_signal, number)

    async def on_unmount(self) -> None:
        """Close the connections."""
        await self.desk.client.close()

    def _on_signal(self, number: signal.Signals) -> None:
        """Give the item back and leave; should the terminal be gone and block us, leave anyway."""
        last_resort = threading.Timer(_LAST_RESORT_SECONDS, os._exit, (128 + number,))
        last_resort.daemon = True
        last_resort.start()
        begin(self, partial(self._leave, 128 + number), "exit")

    def action_nothing(self) -> None:
        """Do nothing: this key must never end a session."""

    async def action_sign_off(self) -> None:
        """Give the item back and leave; ask once where that would drop what was not sent."""
        screen = self.screen
        if self._leaving or not (isinstance(screen, Bench) and screen.asks_before_leaving()):
            await self._leave(return_code=0)

    async def _leave(self, return_code: int) -> None:
        if self._leaving:
            return
        self._leaving = True
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._give_back()
        except TimeoutError:
            self.log("the item was not given back in time; its lease runs out by itself")
        try:
            self.desk.shelf.clear()
        except OSError as error:
            self.log(f"attachments stay where they are: {error.strerror}")
        self.exit(self._summary() if return_code == 0 else "", return_code=return_code)

    async def _give_back(self) -> None:
        """Release what is held; a verdict on its way is left to the journal."""
        screen = self.screen
        if not isinstance(screen, Bench) or isinstance(screen.session, Submitting):
            return
        lease = lease_of(screen.session)
        if isinstance(screen.session, Claiming):
            lease = await self._claimed_meanwhile()
        if lease is not None:
            await self.desk.release(lease, ReleaseReason.SIGN_OFF)

    async def _claimed_meanwhile(self) -> Lease | None:
        """Return the lease of a claim whose answer has not come, if it was granted."""
        try:
            event = await self.desk.mine()
        except ClientError:
            return None
        match event:
            case Leased(held):
                return held.lease
            case NotProven(lease):
                return lease
            case _:
                return None

    def _summary(self) -> str:
        screen = self.screen
        if not isinstance(screen, Bench):
            return ""
        decided = f"Signed off. {screen.done} decided in this session."
        if isinstance(screen.session, Submitting):
            verdict = screen.session.pending.request.verdict.upper()
            decided = f"{decided} Your {verdict} is kept, and is sent first at the next start."
        return f"{decided}{_notes_gone(screen)}"

    def _handle_exception(self, error: Exception) -> None:
        """Leave after an unexpected error without showing it: it would show content and tokens."""
        self._return_code = CRASHED
        if self.failure is None:
            self.failure = self._exception = error
            self.left_leased = self._lease_in_hand()
            self._exception_event.set()
        self._close_messages_no_wait()

    def _lease_in_hand(self) -> Lease | None:
        """Return what is leased; None while a verdict's outcome is unknown."""
        for screen in self.screen_stack:
            if isinstance(screen, Bench) and not isinstance(screen.session, Submitting):
                return lease_of(screen.session)
        return None


def _notes_gone(bench: Bench) -> str:
    """Say which notes end with the session; one that goes with a verdict on its way does not."""
    gone = bench.unsent()
    if not gone:
        return ""
    items = ", ".join(dict.fromkeys(note.content_id for note in gone))
    are = "note was not sent and is gone" if len(gone) == 1 else "notes were not sent and are gone"
    return f" {len(gone)} {are} ({safe_line(items)})."

"""What a reviewer's screen has at hand; `take` is the one place where its session moves."""

from __future__ import annotations

import time
from dataclasses import replace

from textual.screen import Screen

from shared.wire.queue import Me, QueueFigures, QueueView
from tui.desk import Desk
from tui.messages import Happened
from tui.state.advance import advance
from tui.state.events import (
    ANSWERS,
    Event,
    GivenBack,
    Leased,
    NothingFree,
    ParkedAway,
    Recorded,
    Troubled,
)
from tui.state.hand import Hand
from tui.state.held import Trouble, Why
from tui.state.notes import KeptNote, left_behind, note_of, still_kept
from tui.state.session import (
    Elsewhere,
    Idle,
    Session,
    Stale,
    Submitting,
    disarmed,
    lease_of,
    lease_token,
    shown_lease,
)
from tui.widgets.bars import Receipt

NEVER = float("inf")
NOTE_KEPT = "Your note was not sent. It is kept: D shows it."


class Bench(Screen[None]):
    """The state; heirs do its work, give it keys and paint it."""

    def __init__(self, desk: Desk, queue: str | None, hint: str) -> None:
        super().__init__()
        self.desk = desk
        self.me: Me | None = None
        self.queue_name = queue or ""
        self.hint = hint
        self.session: Session = Idle(Why.START)
        self.hand = Hand(offers=(), armed_at=NEVER)
        self.receipt: Receipt | ParkedAway | None = None
        self.figures: QueueFigures | None = None
        self.figures_at = self.me_at = 0.0
        """When the figures on the screen were read, and those of all queues."""
        self.done = 0
        self.left: list[tuple[str, float]] = []
        """The queues in which an item was given back from here, and when."""
        self.kept: list[KeptNote] = []
        self.asked_about: list[KeptNote] = []
        """The unsent notes of which the person has just been told that leaving drops them."""
        self.said = ""
        self.live = True
        self.paused = False
        self.going_to: str | None = None
        self.shown_at = 0.0
        self.sign_in_trouble: Trouble | None = None
        self.look_trouble: Trouble | None = None
        """Why the figures on the screen are old, if they are."""
        self.parting = ""
        """The token of a lease that is being given up by a deed of this terminal."""
        self.dialog_since = 0.0

    def repaint(self) -> None:
        """Draw everything that follows from the state."""
        raise NotImplementedError

    def show_item(self) -> None:
        """Draw another item than before."""
        raise NotImplementedError

    def seen(self) -> int:
        """Return the share of the item that has been on screen, in percent."""
        raise NotImplementedError

    def start_claim(self) -> None:
        """Ask for the next item of the queue."""
        raise NotImplementedError

    # state

    def take(self, event: Event) -> None:
        """Let `event` move the session, and draw what follows from it."""
        before, was = shown_lease(self.session), self.session
        self.session = advance(was, event)
        self.kept = still_kept(self.kept, was, event, self.session)
        self.keep(left_behind(was, event, self.session))
        if disarmed(self.session):
            self.hand = replace(self.hand, picker=None)
        if isinstance(self.session, Elsewhere) and lease_token(was) != lease_token(self.session):
            self.dialog_since = key_clock()
        self._count(event)
        self._follow(event)
        if shown_lease(self.session) != before:
            self.shown_at = self.desk.now()
            self.show_item()
        self.repaint()

    def keep(self, note: KeptNote | None) -> None:
        """Keep a note that was not sent, in memory alone, and say so."""
        if note is None:
            return
        if note not in self.kept:
            self.kept.append(note)
        if not isinstance(self.session, Stale):  # its dialog says it
            self.said = NOTE_KEPT

    def unsent(self) -> list[KeptNote]:
        """Return what was written and would end with the session."""
        going = isinstance(self.session, Submitting)
        at_hand = None if going else note_of(self.session)
        return [*self.kept, at_hand] if at_hand is not None else self.kept

    def asks_before_leaving(self) -> bool:
        """Say once that leaving drops what was not sent; return whether it was said just now."""
        unsent = list(self.unsent())
        if not unsent or unsent == self.asked_about:
            return False
        self.asked_about = unsent
        self.repaint()
        return True

    def _count(self, event: Event) -> None:
        if isinstance(event, ANSWERS):
            self.live = True
        elif isinstance(event, Troubled):
            self.live = False
        if isinstance(event, Recorded):
            self.receipt = Receipt(event.decision, self.desk.now(), event.replayed)
            self.done += 1
        if isinstance(event, ParkedAway):
            self.receipt = event

    def _follow(self, event: Event) -> None:
        """Take over the queue of an item that came from elsewhere, and the figures that came."""
        lease = lease_of(self.session)
        if lease is not None:
            self.queue_name = lease.queue
        arrived = event.next if isinstance(event, Recorded) else event
        if isinstance(arrived, (Leased, NothingFree)) and arrived.figures is not None:
            self.figures, self.figures_at = arrived.figures, self.desk.now()
        elif self.figures is None or self.figures.queue != self.queue_name:
            self.show_known_figures()
        if isinstance(event, GivenBack):
            self._given_back(event)
        elif isinstance(event, ParkedAway) and not self.paused:
            self.start_claim()

    def show_known_figures(self) -> None:
        """Show of this queue what was read of all: a claim that finds an item brings no figures."""
        view = self.view(self.queue_name)
        if view is not None:
            self.figures, self.figures_at = view.figures, self.me_at

    def _given_back(self, event: GivenBack) -> None:
        """Go on in the queue that was chosen, or with the next item of this one."""
        wanted, self.going_to = self.going_to, None
        self.queue_name = wanted or self.queue_name
        if wanted or (event.why is Why.RELEASED and not self.paused):
            self.start_claim()

    def on_happened(self, message: Happened) -> None:
        """Hear from a worker."""
        if message.parted:
            self.parting = self.said = ""
        self.take(message.event)

    def view(self, queue: str) -> QueueView | None:
        """Return what is known of a queue."""
        views = self.me.queues if self.me is not None else ()
        return next((view for view in views if view.queue == queue), None)

    def title_of(self, queue: str) -> str:
        """Return what people call a queue; its name until that is known."""
        view = self.view(queue)
        return view.title if view is not None else queue


def key_clock() -> float:
    """Return the time on the clock that stamps the keys."""
    return time.monotonic()

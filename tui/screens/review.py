"""The reviewer's workstation: what is painted, from the state and from nothing else."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Container

from shared.reasons import Reason
from tui.keymap import REVIEW
from tui.screens.bench import NEVER, key_clock, shown_item
from tui.screens.idle import idle_rows, idle_words
from tui.screens.keyboard import Keyboard, Overlay
from tui.state.hand import Hand, painted
from tui.state.offers import offers_for
from tui.state.session import Changed, Reviewing, Stale, Submitting, frozen, held_item
from tui.widgets import evidence as rows
from tui.widgets.bars import (
    Standing,
    header,
    idle_bar,
    lease_bar,
    receipt_words,
    sending_words,
    verdict_bar,
)
from tui.widgets.card import Card, changed_card, help_card, queues_card, stale_card
from tui.widgets.evidence import EvidencePane
from tui.widgets.item import ItemPane
from tui.widgets.note import NoteInput
from tui.widgets.paint import Content, Line, fit, words
from tui.widgets.picker import PickerView

LEAST_WIDTH, LEAST_HEIGHT = 80, 24
_WIDE, _TALL = 160, 30
_LOOK_SECONDS, _LOOK_SECONDS_BUSY = 10.0, 30.0
_JUMP_SECONDS = 5.0


class ReviewScreen(Keyboard):
    """One item, why it is here, the time left, and the keys that decide it."""

    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] = [  # noqa: RUF012  (as Textual declares it)
        (0, "-narrow"), (100, "-two"), (160, "-three"),
    ]  # fmt: skip

    AUTO_FOCUS = ""  # keys belong to the screen until a note is being written

    def compose(self) -> ComposeResult:
        """Lay the rows and panes out, top to bottom, and what lies over them."""
        yield Line(name="header")
        yield Line(name="hint")
        yield Line(name="lease")
        with Container(id="body"):
            yield ItemPane()
            yield EvidencePane(name="evidence", title="Why it is here")
            yield EvidencePane(name="context", title="About it")
        yield Line(name="status")
        yield Line(name="verdicts")
        yield PickerView(name="picker")
        yield NoteInput()
        yield Card(name="card")
        yield Line(name="small")

    def on_mount(self) -> None:
        """Start the clocks, and find out who I am."""
        self._ticked = self.desk.now()
        self._looked = self._ticked
        self.set_interval(1.0, self.tick)
        self.run_worker(self.sign_in(), group="start")
        self.show_item()
        self.repaint()

    def on_resize(self, event: events.Resize) -> None:
        """Choose the sections for the new size."""
        width, height = event.size
        self._arrange(width, height)
        self.repaint()

    def _arrange(self, width: int, height: int) -> None:
        pane = self.query_one("#evidence", EvidencePane)
        pane.compact = height < _TALL
        narrow = rows.COMPACT if pane.compact else rows.ALL
        pane.sections = rows.WHY if width >= _WIDE else narrow
        self.query_one("#context", EvidencePane).sections = rows.CONTEXT
        self.query_one("#context", EvidencePane).compact = pane.compact
        for each in self.query(EvidencePane):
            each.lay_out()

    def too_small(self) -> bool:
        """Tell whether the terminal is too small to decide anything in."""
        width, height = self.app.size
        return width < LEAST_WIDTH or height < LEAST_HEIGHT

    def seen(self) -> int:
        """Return the share of the item that has been on screen, in percent."""
        return self.query_one(ItemPane).seen

    def tick(self) -> None:
        """Count the time: renew, look, and notice that the machine slept."""
        now = self.desk.now()
        slept = now - self._ticked > _JUMP_SECONDS
        self._ticked = now
        held = held_item(self.session)
        if isinstance(self.session, Reviewing) and held is not None:
            if slept:
                self.run_worker(self.resume(), group="main", exclusive=True)
            elif held.renewal.due(held.countdown, now):
                self.start_renewal(held)
        wait = _LOOK_SECONDS if held is None else _LOOK_SECONDS_BUSY
        if now - self._looked >= wait:
            self._looked = now
            self.start_look()
        self._paint_moving()

    def show_item(self) -> None:
        """Put another item on the screen; its keys count once it has been painted."""
        held = shown_item(self.session)
        self.hand = Hand(offers=(), armed_at=NEVER)
        self.active = "item"
        for pane in self.query(EvidencePane):
            pane.load(held)
        if held is None:
            return
        self.query_one(ItemPane).load(held.evidence)
        lease = held.lease
        offers = offers_for(held.evidence, lease.verdicts, self._reasons(), lease.queue)
        self.hand = Hand(offers=offers, armed_at=NEVER)
        self.call_after_refresh(self._arm)

    def _arm(self) -> None:
        """Start the arming time, now that the item can be seen."""
        self.hand = painted(self.hand.offers, key_clock())

    def _reasons(self) -> tuple[Reason, ...]:
        view = self.view(self.queue_name)
        return view.reasons if view is not None else ()

    # painting

    def repaint(self) -> None:
        """Draw everything that follows from the state."""
        if not self.is_mounted:
            return
        self.sync_dialog()
        self._paint_body()
        self._paint_overlay()
        self._paint_moving()

    def _line(self, name: str) -> Line:
        return self.query_one(f"#{name}", Line)

    def _paint_body(self) -> None:
        width = self.app.size.width
        small = self.too_small()
        self.set_class(small, "-small")
        self._line("small").show(
            words(f"This terminal is {width}×{self.app.size.height}; 80×24 is needed to decide.")
        )
        hint = words(f" ▸ {self.hint}", "$escalate") if self.hint else words("")
        self._line("hint").display = bool(self.hint)
        self._line("hint").show(fit(hint, width))
        held = shown_item(self.session)
        self.set_class(held is None, "-idle")
        if held is None:
            title, text = idle_rows(self)
            self.query_one(ItemPane).message(title, text)
        for name in ("item", "evidence"):
            self.query_one(f"#{name}").set_class(
                self.active == name and held is not None, "-active"
            )

    def _paint_moving(self) -> None:
        """Draw the rows that change with the clock."""
        if not self.is_mounted:
            return
        width, now = self.app.size.width, self.desk.now()
        name = self.me.name if self.me is not None else "signing in"
        view = self.view(self.queue_name)
        standing = Standing(
            queue=view.title if view is not None else self.queue_name,
            name=name, figures=self.figures, done=self.done, live=self.live, paused=self.paused,
        )  # fmt: skip
        self._line("header").show(header(standing, width))
        held = shown_item(self.session)
        self._line("lease").show(lease_bar(held, now, width))
        self._line("status").show(fit(self._status(now), width))
        bar = idle_bar(width) if held is None else verdict_bar(self.hand, self._dead(), width)
        self._line("verdicts").show(bar)

    def _dead(self) -> bool:
        return frozen(self.session) or isinstance(self.session, (Stale, Changed))

    def _status(self, now: float) -> Content:
        """Return the one reserved row: trouble before words before receipt before rest."""
        if isinstance(self.session, Submitting):
            request = self.session.pending.request
            return sending_words(request.verdict, request.reason, self.session.trouble, now)
        if self.said:
            return words(f" {self.said}", "$review")
        if isinstance(self.session, Reviewing) and self.session.words:
            return words(f" {self.session.words}", "bold $review")
        if self.receipt is not None:
            return receipt_words(self.receipt, now)
        return words(f" {idle_words(self)}", "$muted")

    def _paint_overlay(self) -> None:
        content_id = ""
        if isinstance(self.session, Reviewing):
            content_id = self.session.held.lease.content_id
        self.query_one(PickerView).draw(self.hand.picker, content_id, self.seen())
        card = self.query_one(Card)
        match self.overlay:
            case Overlay.HELP:
                card.draw(*help_card(REVIEW, self.hand.offers))
            case Overlay.QUEUES if self.me is not None:
                holding = held_item(self.session)
                name = holding.lease.content_id if holding is not None else ""
                card.draw(*queues_card(self.me, self.highlight, name))
            case Overlay.DIALOG if isinstance(self.session, Stale):
                card.draw(*stale_card(self.session))
            case Overlay.DIALOG if isinstance(self.session, Changed):
                card.draw(*changed_card(self.session))
            case _:
                card.hide()

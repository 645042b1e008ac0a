"""How a reviewer's screen is drawn: from the state, and from nothing else."""

from __future__ import annotations

from tui.keymap import REVIEW
from tui.screens.bench import shown_item
from tui.screens.idle import idle_rows, idle_words
from tui.screens.keyboard import Keyboard
from tui.screens.switching import Overlay
from tui.state.session import Changed, Reviewing, Stale, Submitting, frozen, held_item
from tui.widgets.bars import (
    Standing,
    header,
    idle_bar,
    lease_bar,
    receipt_words,
    sending_words,
    verdict_bar,
)
from tui.widgets.card import (
    Card,
    changed_card,
    help_card,
    kept_card,
    queues_card,
    stale_card,
)
from tui.widgets.item import ItemPane
from tui.widgets.paint import Content, Line, fit, words
from tui.widgets.picker import PickerView

LEAST_WIDTH, LEAST_HEIGHT = 80, 24


class Painter(Keyboard):
    """Adds the drawing."""

    def too_small(self) -> bool:
        """Tell whether the terminal is too small to decide anything in."""
        width, height = self.app.size
        return width < LEAST_WIDTH or height < LEAST_HEIGHT

    def seen(self) -> int:
        """Return the share of the item that has been on screen, in percent."""
        return self.query_one(ItemPane).seen

    def repaint(self) -> None:
        """Draw everything that follows from the state."""
        if not self.is_mounted:
            return
        self.sync_dialog()
        self._paint_body()
        self._paint_overlay()
        self.paint_moving()

    def _line(self, name: str) -> Line:
        return self.query_one(f"#{name}", Line)

    def _paint_body(self) -> None:
        width = self.app.size.width
        small = self.too_small()
        self.set_class(small, "-small")
        self._line("small").show(
            words(f"This terminal is {width}×{self.app.size.height}; 80×24 is needed to decide.")
        )
        held = shown_item(self.session)
        self.set_class(held is None, "-idle")
        if held is None:
            title, text = idle_rows(self)
            self.query_one(ItemPane).message(title, text)
        for name in ("item", "evidence"):
            self.query_one(f"#{name}").set_class(
                self.active == name and held is not None, "-active"
            )

    def paint_moving(self) -> None:
        """Draw the rows that change with the clock."""
        if not self.is_mounted:
            return
        width, now = self.app.size.width, self.desk.now()
        name = self.me.name if self.me is not None else "signing in"
        held = shown_item(self.session)
        standing = Standing(
            queue=self.title_of(self.queue_name),
            name=name, figures=self.figures, done=self.done, live=self.live,
            paused=self.paused and held is not None,
        )  # fmt: skip
        self._line("header").show(header(standing, width))
        self._line("lease").show(lease_bar(held, now, width))
        self._line("status").show(fit(self._status(now, width), width))
        if held is None:
            self._line("verdicts").show(idle_bar(width))
            return
        noted = isinstance(self.session, Reviewing) and bool(self.session.note)
        self._line("verdicts").show(verdict_bar(self.hand, self._dead(), width, noted=noted))

    def _dead(self) -> bool:
        return frozen(self.session) or isinstance(self.session, (Stale, Changed))

    def _status(self, now: float, width: int) -> Content:
        """Return the one reserved row: trouble before words before receipt before rest."""
        if isinstance(self.session, Submitting):
            request = self.session.pending.request
            trouble = self.session.trouble
            return sending_words(request.verdict, request.reason, trouble, now, width)
        if self.said:
            return words(f" {self.said}", "$review")
        if isinstance(self.session, Reviewing) and self.session.words:
            return words(f" {self.session.words}", "bold $review")
        if isinstance(self.session, (Stale, Changed)):
            return words(f" ✕ {idle_words(self)}", "bold $reject")
        if self.receipt is not None:
            return receipt_words(self.receipt, now, width)
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
            case Overlay.KEPT if self.kept:
                in_hand = isinstance(self.session, Reviewing)
                card.draw(*kept_card(self.kept, self.highlight, in_hand=in_hand))
            case Overlay.DIALOG if isinstance(self.session, Stale):
                card.draw(*stale_card(self.session))
            case Overlay.DIALOG if isinstance(self.session, Changed):
                card.draw(*changed_card(self.session))
            case _:
                card.hide()

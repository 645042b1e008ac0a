"""How a reviewer's screen is drawn: from the state, and from nothing else."""

from __future__ import annotations

from tui.difference import Difference, difference, told_difference
from tui.keymap import REVIEW
from tui.screens.idle import idle_rows
from tui.screens.keyboard import Keyboard
from tui.screens.status import leaving_words, resting_words
from tui.screens.switching import Overlay
from tui.state.parking import TYPED_STEPS
from tui.state.session import (
    Changed,
    Elsewhere,
    Reviewing,
    Stale,
    Submitting,
    disarmed,
    frozen,
    held_item,
    shown_item,
)
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
    help_card,
    kept_card,
    old_figures,
    queues_card,
)
from tui.widgets.item import ItemPane
from tui.widgets.moved import Dialog, changed_dialog, stale_dialog
from tui.widgets.paint import Content, Line, fit, words
from tui.widgets.picker import PickerView

LEAST_WIDTH, LEAST_HEIGHT = 80, 24


class Painter(Keyboard):
    """Adds the drawing."""

    _compared: tuple[tuple[str, str], Difference] | None = None

    def too_small(self) -> bool:
        """Tell whether the terminal is too small to decide anything in."""
        width, height = self.app.size
        return width < LEAST_WIDTH or height < LEAST_HEIGHT

    def seen(self) -> int:
        """Return the share of the item that has been on screen, in percent."""
        return self.query_one(ItemPane).seen

    def repaint(self) -> None:
        """Draw everything that follows from the state."""
        if not self.is_mounted or not self.children:  # not there yet, or being taken down
            return
        if self.asked_about != self.unsent():
            self.asked_about = []
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
        needed = f"This terminal is {width}×{self.app.size.height}; 80×24 is needed to decide."
        asked = len(self.asked_about)
        self._line("small").show(words(leaving_words(asked) if asked else needed))
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
        if not self.is_mounted or not self.children:
            return
        width, now = self.app.size.width, self.desk.now()
        name = self.me.name if self.me is not None else "signing in"
        held = shown_item(self.session)
        standing = Standing(
            queue=self.title_of(self.queue_name),
            name=name, figures=self.figures, done=self.done, live=self.live,
            paused=self.paused and held is not None, since=now - self.figures_at,
        )  # fmt: skip
        self._line("header").show(header(standing, width))
        self._line("lease").show(lease_bar(held, now, width))
        asked = len(self.asked_about)
        leaving = words(f" {leaving_words(asked)}", "bold $review") if asked else None
        self._line("status").show(fit(leaving or self._status(now, width), width))
        if held is None:
            verb = "Take over" if isinstance(self.session, Elsewhere) else "Claim"
            self._line("verdicts").show(idle_bar(width, verb=verb))
            return
        noted = isinstance(self.session, Reviewing) and bool(self.session.note)
        self._line("verdicts").show(verdict_bar(self.hand, self._dead(), width, noted=noted))

    def _dead(self) -> bool:
        dead = frozen(self.session) or isinstance(self.session, (Stale, Changed))
        filling = self.overlay in (Overlay.PARK, Overlay.NOTE)
        return dead or filling or disarmed(self.session) or bool(self.parting)

    def _status(self, now: float, width: int) -> Content:
        """Return the one reserved row: trouble before words before receipt before rest."""
        if isinstance(self.session, Submitting):
            request = self.session.pending.request
            trouble = self.session.trouble
            return sending_words(request.verdict, request.reason, trouble, now, width)
        if (urgent := self._urgent()) is not None:
            return urgent
        if self.said:
            return words(f" {self.said}", "$review")
        if isinstance(self.session, Reviewing) and self.session.words:
            return words(f" {self.session.words}", "bold $review")
        if self.receipt is not None:
            return receipt_words(self.receipt, now, width)
        return words(f" {resting_words(self)}", "$muted")

    def _urgent(self) -> Content | None:
        """Return what nothing else may hide: that a verdict from here would not count."""
        if isinstance(self.session, (Stale, Changed)):
            later = " Finish your line first: it is kept." if self.line is not None else ""
            return words(f" ✕ {resting_words(self)}{later}", "bold $reject")
        if isinstance(self.session, Reviewing) and disarmed(self.session):
            look = "it is being fetched …" if self.session.told else "d look"
            return words(f" ▲ Evidence changed · {look}", "bold $review")
        return None

    def _paint_overlay(self) -> None:
        content_id = ""
        if isinstance(self.session, Reviewing):
            content_id = self.session.held.lease.content_id
        self._paint_picker(content_id)
        card = self.query_one(Card)
        match self.overlay:
            case Overlay.HELP:
                card.draw(*help_card(REVIEW, self.hand.offers))
            case Overlay.QUEUES if self.me is not None:
                holding = held_item(self.session)
                name = holding.lease.content_id if holding is not None else ""
                old = old_figures(self.look_trouble, self.desk.now())
                card.draw(*queues_card(self.me, self.highlight, name, old))
            case Overlay.KEPT if self.kept:
                in_hand = isinstance(self.session, Reviewing)
                card.draw(*kept_card(self.kept, self.highlight, in_hand=in_hand))
            case Overlay.DIALOG if isinstance(self.session, Stale):
                self._draw(card, stale_dialog(self.session))
            case Overlay.DIALOG if isinstance(self.session, Changed):
                diff = self._difference(self.session)
                self._draw(card, changed_dialog(self.session, diff, card.text_width))
            case _:
                card.hide()

    def _draw(self, card: Card, dialog: Dialog) -> None:
        last = card.draw(dialog.title, dialog.rows, dialog.foot, self.dialog_top)
        self.dialog_top = min(self.dialog_top, last)

    def _paint_picker(self, content_id: str) -> None:
        view = self.query_one(PickerView)
        leaving = leaving_words(len(self.asked_about)) if self.asked_about else ""
        if self.form is not None and self.form.step not in TYPED_STEPS:
            view.draw_form(self.form, content_id, leaving)
        else:
            view.draw(self.hand.picker, content_id, self.seen(), leaving or self.hand.missed)

    def _difference(self, changed: Changed) -> Difference:
        """Return what changed; comparing long texts takes a moment, so the last one is kept."""
        old, fresh = changed.old, changed.fresh
        if old is None or fresh is None:
            new = fresh.evidence if fresh is not None else None
            told = changed.change
            return told_difference(told, new) if told is not None else Difference()
        pair = (old.lease.evidence_hash, fresh.lease.evidence_hash)
        if self._compared is None or self._compared[0] != pair:
            self._compared = (pair, difference(old.evidence, fresh.evidence))
        return self._compared[1]

"""The reviewer's workstation: what is painted, from the state and from nothing else."""

from __future__ import annotations

from dataclasses import replace

from textual import events
from textual.app import ComposeResult
from textual.containers import Container

from shared.reasons import Reason
from tui.background import begin
from tui.screens.bench import NEVER, key_clock
from tui.screens.painting import Painter
from tui.state.hand import Hand, Picker, painted
from tui.state.held import Held
from tui.state.offers import offers_for
from tui.state.session import Elsewhere, Reviewing, held_item, shown_item
from tui.widgets import evidence as rows
from tui.widgets.card import Card
from tui.widgets.evidence import EvidencePane
from tui.widgets.item import ItemPane
from tui.widgets.note import NoteInput
from tui.widgets.paint import Line, words
from tui.widgets.picker import PickerView

_WIDE, _TALL = 160, 30
_JUMP_SECONDS = 5.0
_AGAIN_SECONDS = 5.0


class ReviewScreen(Painter):
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
        hint = words(f" ▸ {self.hint}", "$escalate") if self.hint else words("")
        self.query_one("#hint", Line).grow(hint)
        self._ticked = self.desk.now()
        self.looked_at = self.item_looked_at = self._asked = self._ticked
        self.set_interval(1.0, self.tick)
        begin(self, self.sign_in, "start")
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

    def tick(self) -> None:
        """Count the time: renew, look, and notice that the machine slept."""
        now = self.desk.now()
        slept = now - self._ticked > _JUMP_SECONDS
        self._ticked = now
        held = held_item(self.session)
        if slept:
            self.look_at_item()
        elif isinstance(self.session, Reviewing) and held is not None and self._due(held, now):
            self._asked = now
            self.start_renewal(held)
        self.look_when_due(now)
        if isinstance(self.session, Elsewhere):
            self.repaint()  # the time of the other terminal runs in the place of the item
        else:
            self.paint_moving()

    def _due(self, held: Held, now: float) -> bool:
        return held.renewal.due(held.countdown, now) and now - self._asked >= _AGAIN_SECONDS

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
        now = key_clock()
        self.hand = painted(self.hand.offers, now)
        again, self.edit_again = self.edit_again, None
        offer = self.hand.offer(again[0]) if again is not None else None
        if again is not None and offer is not None:
            place = next((n for n, each in enumerate(offer.choices) if each.code == again[1]), None)
            self.hand = replace(self.hand, picker=Picker(offer, now, highlight=place))
            self.repaint()

    def _reasons(self) -> tuple[Reason, ...]:
        view = self.view(self.queue_name)
        return view.reasons if view is not None else ()

"""The leads' first screen: how the queues stand, in figures that were just read."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from shared.client import ClientError, Refused
from shared.problems import ProblemCode
from shared.wire.cockpit import Health
from tui.answers import words_of
from tui.background import begin
from tui.clock import local_words
from tui.cockpit.explained import lead_help
from tui.cockpit.figures import card_rows, cards, table_rows
from tui.cockpit.leases import histogram_rows
from tui.desk import Desk
from tui.keymap import LEAD, lookup
from tui.state.countdown import clock_words
from tui.widgets.card import Card
from tui.widgets.paint import Content, Line, cap, fit, glue, lines, spread, words
from tui.widgets.pane import Pane

KEY_REFUSED = 77
_NO_LEAD = (ProblemCode.UNAUTHENTICATED, ProblemCode.FORBIDDEN)
_WHY = "it takes the valid key of a lead."
REFRESH_SECONDS = 5.0
STALE_SECONDS = 15.0
LEAST_WIDTH, LEAST_HEIGHT = 80, 24


class LeasePane(Pane):
    """The lease counts of all queues."""

    def __init__(self) -> None:
        super().__init__(name="leases")
        self.health: Health | None = None
        self._contents: list[Content] = []

    def build(self, width: int) -> int:
        """Write the rows for `width` cells."""
        self._contents = [] if self.health is None else histogram_rows(self.health, width)
        return len(self._contents)

    def row(self, place: int) -> Content:
        """Return one row."""
        return self._contents[place]


class HealthScreen(Screen[None]):
    """Cards, queues and lease counts; grey once the figures are old."""

    def __init__(self, desk: Desk, hint: str) -> None:
        super().__init__()
        self.desk = desk
        self.hint = hint
        self.health: Health | None = None
        self.read_at = desk.now()
        self.trouble = ""
        self.helping = False
        self.said = ""

    def compose(self) -> ComposeResult:
        """Lay the parts out, top to bottom."""
        yield Line(name="header")
        yield Line(name="hint")
        yield Line(name="cards")
        yield Line(name="table")
        yield LeasePane()
        yield Line(name="status")
        yield Line(name="verdicts")
        yield Card(name="card")
        yield Line(name="small")

    def on_mount(self) -> None:
        """Read the figures now and every few seconds."""
        hint = words(f" ▸ {self.hint}", "$escalate") if self.hint else words("")
        self._line("hint").grow(hint)
        self.query_one(LeasePane).caption(words("Leases per undecided item"))
        self.set_interval(REFRESH_SECONDS, self.do_refresh)
        self.set_interval(1.0, self.repaint)
        self.do_refresh()
        self.repaint()

    def on_resize(self) -> None:
        """Draw for the new size."""
        self.repaint()

    def on_key(self, event: events.Key) -> None:
        """Look the key up in the keymap."""
        event.stop()
        event.prevent_default()
        self.said = ""
        if self.helping:
            self.helping = False
        elif (action := lookup(LEAD, event.key)) is not None:
            getattr(self, f"do_{action}")()
        self.repaint()

    def do_refresh(self) -> None:
        """Read the figures now."""
        begin(self, self._read, "read")

    async def _read(self) -> None:
        try:
            self.health = await self.desk.client.health()
        except ClientError as error:
            if self.health is None and isinstance(error, Refused) and error.code in _NO_LEAD:
                self.app.exit(f"fencepost: the server refuses this key: {_WHY}", KEY_REFUSED)
                return
            self.trouble = words_of(error)
        else:
            self.trouble, self.read_at = "", self.desk.now()
            pane = self.query_one(LeasePane)
            pane.health = self.health
            pane.lay_out()
        self.repaint()

    def do_line_down(self) -> None:
        """Go a line down."""
        self.query_one(LeasePane).scroll_by(1)

    def do_line_up(self) -> None:
        """Go a line up."""
        self.query_one(LeasePane).scroll_by(-1)

    def do_help(self) -> None:
        """Show the keys."""
        self.helping = True

    def do_back(self) -> None:
        """Say how to leave: nothing lies behind this screen."""
        self.said = "ctrl+q leaves"

    def repaint(self) -> None:
        """Draw everything that follows from the figures and their age."""
        if not self.is_mounted:
            return
        width, height = self.app.size
        small = width < LEAST_WIDTH or height < LEAST_HEIGHT
        self.set_class(small, "-small")
        self._line("small").show(words(f"This terminal is {width}×{height}; 80×24 is needed."))
        self.set_class(self.stale and self.health is not None, "-stale")
        self._line("header").show(self._header(width))
        self._paint_figures(width)
        self._line("status").show(fit(self._status(), width))
        self._line("verdicts").show(_keys(width))
        card = self.query_one(Card)
        card.draw(*lead_help()) if self.helping else card.hide()

    @property
    def stale(self) -> bool:
        """Whether the figures are too old to act on."""
        return self.desk.now() - self.read_at > STALE_SECONDS

    def _line(self, name: str) -> Line:
        return self.query_one(f"#{name}", Line)

    def _paint_figures(self, width: int) -> None:
        if self.health is None:
            self._line("cards").show(words(" Reading the figures …", "$muted"))
            return
        self._line("cards").show(lines(card_rows(cards(self.health), width)))
        table = self._line("table")
        table.styles.height = len(self.health.queues) + 3
        table.caption(words("Queues"))
        table.show(lines(table_rows(self.health, width - 4)))

    def _header(self, width: int) -> Content:
        left = glue(words(" ◆ ", "$approve"), words("Health", "bold"))
        if self.health is None:
            return spread(left, words("no figures yet ", "$muted"), width)
        age = self.desk.now() - self.read_at
        when = f"as of {local_words(self.health.as_of)}"
        policy = words(f"policy {self.health.policy_version}  ", "$muted")
        if self.stale:
            old = words(f"✕ STALE: {when}, {clock_words(age)} ago ", "bold $reject")
            return spread(left, glue(policy, old), width)
        live = words("● live ", "$approve")
        if self.trouble:
            live = words("○ offline ", "bold $reject")
        return spread(left, glue(policy, words(f"{when}  "), live), width)

    def _status(self) -> Content:
        if self.said:
            return words(f" {self.said}", "$review")
        if self.trouble:
            return words(f" ○ Not refreshed: {self.trouble}", "bold $reject")
        if self.health is None:
            return words("")
        waiting = self.health.waiting_to_apply
        return words(
            f" {waiting} verdict{'s' * (waiting != 1)} recorded and not yet due.", "$muted"
        )


def _keys(width: int) -> Content:
    left = glue(words(" "), cap("r"), words(" Refresh  "), cap("ctrl+q"), words(" Leave"))
    return spread(left, glue(cap("?"), words(" Help ")), width)

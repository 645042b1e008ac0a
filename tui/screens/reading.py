"""The keys that move about in the item and beside it."""

from __future__ import annotations

from tui.screens.listening import Listener
from tui.widgets.item import ItemPane
from tui.widgets.pane import Pane


class Reader(Listener):
    """Adds scrolling; `active` names the pane that the keys scroll."""

    active = "item"

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

    def _pane(self) -> Pane:
        return self.query_one(f"#{self.active}", Pane)

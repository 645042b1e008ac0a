"""The keys that move about in the item and beside it."""

from __future__ import annotations

import asyncio

from tui.background import begin
from tui.screens.listening import Listener
from tui.shelf import home_words
from tui.state.session import Reviewing
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

    def do_files(self) -> None:
        """Save the attachments of the item in hand."""
        if not isinstance(self.session, Reviewing):
            return
        held = self.session.held
        if not held.evidence.attachments:
            self.said = "This item has no attachments."
            return
        self.said = "Saving …"

        async def work() -> None:
            self.said = await self.desk.save_attachments(held)
            self.repaint()

        begin(self, work, "files")

    def clear_files(self) -> None:
        """Take away what was saved of an item that is gone."""

        async def work() -> None:
            try:
                await asyncio.to_thread(self.desk.shelf.clear)
            except OSError as error:
                where = home_words(self.desk.shelf.folder)
                self.said = f"Attachments are still in {where}: {error.strerror}"
                self.repaint()

        begin(self, work, "files")

    def do_switch_pane(self) -> None:
        """Let the keys scroll the other pane."""
        self.active = "evidence" if self.active == "item" else "item"

    def do_wide(self) -> None:
        """Show the item alone, or both panes."""
        self.toggle_class("-alone")
        self.active = "item"

    def _pane(self) -> Pane:
        return self.query_one(f"#{self.active}", Pane)

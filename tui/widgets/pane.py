"""A pane that draws only the rows on screen, so that the size of an item costs nothing."""

from __future__ import annotations

from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.widgets.paint import Content


class Pane(ScrollView, can_focus=False):
    """A bordered, scrolling view of rows; heirs say what the rows are at a width.

    It scrolls downwards only, and its gutter is always there: the width at which rows were wrapped
    stays the width at which they are shown. Text in it can't be selected with the mouse, since a
    selection would take the text of another pane.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Pane {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        background: $surface;
        border: round $line;
        border-title-color: $text;
        border-subtitle-color: $muted;
        padding: 0 1;
    }
    Pane.-active { border: round $approve; }
    """

    def __init__(self, *, name: str) -> None:
        super().__init__(id=name)
        self._rows = 0
        self._strips: dict[int, Strip] = {}
        self._laid_out_for = -1

    def build(self, width: int) -> int:
        """Lay the rows out for `width` cells and return how many there are."""
        raise NotImplementedError

    def row(self, place: int) -> Content:
        """Return one row, no wider than the width it was laid out for."""
        raise NotImplementedError

    def caption(self, title: Content, subtitle: Content | None = None) -> None:
        """Write on the frame, above and below."""
        self.border_title = title
        self.border_subtitle = subtitle

    @property
    def text_width(self) -> int:
        """Cells for text in a row."""
        return self.scrollable_content_region.width

    def lay_out(self, *, force: bool = True) -> None:
        """Lay out again, if the width has changed or the content has."""
        width = self.text_width
        if force:
            self._laid_out_for = -1  # even while hidden: it is laid out once it is shown
        if width <= 0 or width == self._laid_out_for:
            return
        self._laid_out_for = width
        self._rows = self.build(width)
        self._strips.clear()
        self.virtual_size = Size(width, self._rows)
        self.refresh()

    def on_resize(self) -> None:
        """Wrap for the new width."""
        self.lay_out(force=False)
        self.scrolled()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell heirs what is on screen now."""
        super().watch_scroll_y(old_value, new_value)
        self.scrolled()

    def scrolled(self) -> None:
        """Act on what is on screen; heirs may."""

    @property
    def last_visible(self) -> int:
        """The last row on screen, or -1."""
        bottom = round(self.scroll_y) + self.scrollable_content_region.height
        return min(bottom, self._rows) - 1

    def scroll_by(self, rows: int) -> None:
        """Move by `rows`, at once."""
        self.scroll_to(y=self.scroll_y + rows, animate=False)

    def page(self) -> int:
        """Return the rows of a page: all but one, so that the eye keeps its place."""
        return max(self.scrollable_content_region.height - 1, 1)

    def render_line(self, y: int) -> Strip:
        """Draw one row of the screen."""
        place = y + round(self.scroll_y)
        width = self.text_width
        if place >= self._rows:
            return Strip.blank(width, self.rich_style)
        if place not in self._strips:
            self._strips[place] = self._strip(self.row(place), width)
        return self._strips[place]

    def _strip(self, content: Content, width: int) -> Strip:
        base = self.visual_style
        pieces = content.render(base, end="", parse_style=self._get_style)
        segments = [Segment(text, style.rich_style) for text, style in pieces]
        return Strip(segments, content.cell_length).adjust_cell_length(width, self.rich_style)

    def notify_style_update(self) -> None:
        """Forget what was drawn in the old colours."""
        self._strips.clear()
        super().notify_style_update()

"""The one way onto the screen: strings become `Content` here, each through the sanitiser.

Textual would read `[...]` in a plain string as markup, with actions in it, and pass control
characters on to the terminal. So no other module makes a `Content`, and none hands a string to a
widget; a test reads the tree for both.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content, Span
from textual.widgets import Static

from tui.characters import Kind
from tui.safe_text import SafeText, safe_line

__all__ = [
    "Content", "Line", "Style",
    "cap", "fit", "glue", "lines", "marked", "roomiest", "rule", "words",
]  # fmt: skip

Style = str
"""A style in words, with roles of the theme: `bold $reject`."""

_MARKS: dict[Kind, Style] = {
    Kind.CONTROL: "underline $reject",
    Kind.HIDDEN: "underline $review",
    Kind.SPELLED: "$muted",
    Kind.MIXED: "bold underline $review",
}
HIT: Style = "bold $cap on $hit"
ELLIPSIS = "…"


class Line(Static):
    """A widget that shows what it is given, and takes nothing but `Content`."""

    def __init__(
        self, content: Content | None = None, *, name: str = "", classes: str = ""
    ) -> None:
        super().__init__(content or Content(""), markup=False, id=name or None, classes=classes)

    def show(self, content: Content) -> None:
        """Show `content` in place of what was there."""
        self.update(content, layout=False)

    def grow(self, content: Content) -> None:
        """Show `content` in as many rows as it takes; none for nothing."""
        self.display = bool(content.plain)
        self.update(content, layout=True)

    def caption(self, title: Content | None = None, subtitle: Content | None = None) -> None:
        """Write on the frame, above and below."""
        self.border_title = title
        self.border_subtitle = subtitle


def words(text: str, style: Style = "") -> Content:
    """Return one line of text in `style`; it is made safe, wherever it came from."""
    return Content.styled(safe_line(text), style) if style else Content(safe_line(text))


def marked(
    safe: SafeText, start: int, end: int, hits: Iterable[tuple[int, int]] = (), style: Style = ""
) -> Content:
    """Return a stretch of safe text with its tags, odd words and rule hits marked."""
    spans = [Span(0, end - start, style)] if style else []
    spans += [
        _span(first, last, HIT, start, end)
        for first, last in hits
        if _meets(first, last, start, end)
    ]
    for span in safe.spans_between(start, end):
        spans.append(_span(span.start, span.end, _MARKS[span.kind], start, end))
    return Content(safe.plain[start:end], spans=spans)


def _meets(first: int, last: int, start: int, end: int) -> bool:
    return first < end and last > start


def _span(first: int, last: int, style: Style, start: int, end: int) -> Span:
    return Span(max(first, start) - start, min(last, end) - start, style)


def glue(*parts: Content) -> Content:
    """Return the parts side by side."""
    return Content.assemble(*parts)


def lines(rows: Iterable[Content]) -> Content:
    """Return the rows one below the other."""
    return Content("\n").join(rows)


def cap(key: str, style: Style = "$text on $line") -> Content:
    """Return a key cap."""
    return words(f" {key} ", f"bold {style}")


def fit(content: Content, width: int) -> Content:
    """Return `content` in exactly `width` cells: cut with an ellipsis, or filled with spaces."""
    if width <= 0:
        return Content("")
    if content.cell_length > width:
        content = content.truncate(width, ellipsis=True)
    return content.pad_right(max(width - content.cell_length, 0))


def roomiest(width: int, *choices: Content) -> Content:
    """Return the first of `choices`, longest first, that `width` holds whole; else the last."""
    return next((each for each in choices if each.cell_length <= width), choices[-1])


def spread(left: Content, right: Content, width: int) -> Content:
    """Return one row with `left` and `right` at its ends; the left one gives way."""
    room = width - right.cell_length
    return glue(fit(left, room), right) if room > 0 else fit(right, width)


def rule(title: str, width: int) -> Content:
    """Return a heading with a thin line to the right of it."""
    rest = max(width - len(title) - 1, 0)
    return glue(words(title, "bold $text"), words(" "), words("─" * rest, "$line"))

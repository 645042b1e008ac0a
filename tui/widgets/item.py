"""The item itself: made safe, wrapped, and counted as it is looked at."""

from __future__ import annotations

from shared.evidence import Evidence
from tui.document import Document, Line, Piece, Role, lines_of, oddities, parts_of
from tui.widgets.paint import Content, glue, marked, words
from tui.widgets.pane import Pane

_KILO = 1000


class ItemPane(Pane):
    """Shows one item; `seen` is the share of it that has been on screen, in percent."""

    def __init__(self) -> None:
        super().__init__(name="item")
        self._document = Document(())
        self._pieces: list[Piece] = []
        self._lines: list[Line] = []
        self._title = words("")
        self._seen_to = 0
        self._counting = False
        self._oddities: tuple[int, int] = (0, 0)
        self._message: list[Content] = []

    def load(self, evidence: Evidence) -> None:
        """Show the item of `evidence` from its beginning."""
        self._message = []
        self._document = Document(parts_of(evidence))
        self._pieces = self._document.take()
        self._seen_to = 0
        self._title = _title(evidence, self._document.total)
        self._fresh()

    def message(self, title: Content, rows: list[Content]) -> None:
        """Show a few rows of our own words instead of an item."""
        self._document = Document(())
        self._pieces = []
        self._message = rows
        self._title = title
        self._fresh()

    def _fresh(self) -> None:
        self._oddities = oddities(self._pieces)
        self._counting = False
        self.scroll_to(y=0, animate=False)
        self.lay_out()
        self.call_after_refresh(self._start_counting)
        self.scrolled()

    def _start_counting(self) -> None:
        """Count as seen what is on screen, now that it is laid out and painted."""
        self._counting = True
        self.scrolled()

    def load_more(self) -> bool:
        """Take in the next slice; return whether there was one."""
        if self._document.whole:
            return False
        self._pieces.extend(self._document.take())
        self._oddities = oddities(self._pieces)
        self.lay_out()
        self.scrolled()
        return True

    @property
    def at_end(self) -> bool:
        """Whether the last row taken in is on screen."""
        return self.last_visible >= len(self._lines) - 1

    @property
    def seen(self) -> int:
        """Percent of the item that has been on screen."""
        total = self._document.total
        return 100 if total == 0 else min(100 * self._seen_to // total, 100)

    def build(self, width: int) -> int:
        """Wrap what has been taken in."""
        self._lines = lines_of(self._pieces, width)
        return len(self._message) or len(self._lines)

    def row(self, place: int) -> Content:
        """Return one row of the item, or of the message in its place."""
        if self._message:
            return self._message[place]
        line = self._lines[place]
        piece = line.piece
        if piece.role is Role.HEADING and line.end == 0:
            return words("")
        if piece.role is Role.HEADING:
            return words(f"── {piece.body.plain[line.start : line.end]} ──", "bold $muted")
        body = marked(piece.body, line.start, line.end, piece.hits)
        if piece.role is not Role.FACT:
            return body
        return glue(_name(line), body)

    def scrolled(self) -> None:
        """Count what has been on screen, and say so on the frame."""
        if self._counting and self._lines and self.last_visible >= 0:
            self._seen_to = max(self._seen_to, self._lines[self.last_visible].seen_to)
        self.caption(self._title, None if self._message else self._subtitle())

    def _subtitle(self) -> Content:
        """Return what the frame says below, the most telling first, since it may be cut."""
        hidden, mixed = self._oddities
        parts = [words(f"seen {self.seen}%")]
        if not self._document.whole:
            share = 100 * self._document.loaded // max(self._document.total, 1)
            parts.append(words(f"{share}% loaded, G loads more", "bold $review"))
        if hidden:
            parts.append(words(f"⚠ {hidden} hidden or control signs shown", "$review"))
        if mixed:
            parts.append(words(f"⚠ {mixed} look-alike word{'s' * (mixed > 1)}", "$review"))
        return glue(*(piece for part in parts for piece in (words(" · "), part)))[3:]


def _name(line: Line) -> Content:
    name = line.piece.name
    if line.name is None or name is None:
        return words(" " * line.indent)
    shown = marked(name, *line.name, style="bold $muted")
    return shown.pad_right(max(line.indent - shown.cell_length, 0))


def _title(evidence: Evidence, total: int) -> Content:
    content = evidence.content
    size = f"{total / _KILO:.1f} k characters" if total >= _KILO else f"{total} characters"
    lang = f" · {content.lang}" if content.lang else ""
    return words(f"{content.content_id} · {content.kind}{lang} · {size}")

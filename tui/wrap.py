"""Where the rows of a text begin and end at a given width, counted in cells of the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import get_character_cell_size as cell_size

Row = tuple[int, int]
"""Start and end offset of one row."""


def wrap(text: str, width: int) -> Iterator[Row]:
    """Yield the rows of safe text `text`, none wider than `width` cells.

    A row ends at a space where one is near, else in the middle of a word; never between a
    character and its marks. An empty line is an empty row.
    """
    width = max(width, 2)
    start = 0
    for line in text.split("\n"):
        yield from _wrap_line(text, start, start + len(line), width, ascii_only=line.isascii())
        start += len(line) + 1


def _wrap_line(text: str, start: int, end: int, width: int, *, ascii_only: bool) -> Iterator[Row]:
    while True:
        limit = min(start + width, end) if ascii_only else _fits(text, start, end, width)
        if limit >= end:
            yield start, end
            return
        if text[limit] == " ":
            yield start, limit
            start = limit + 1
            continue
        space = text.rfind(" ", start, limit)
        if space > start and text[start:space].strip():
            yield start, space
            start = space + 1
        else:
            yield start, limit
            start = limit


def _fits(text: str, start: int, end: int, width: int) -> int:
    """Return the offset after the last character that still fits."""
    cells = 0
    for at in range(start, end):
        cells += cell_size(text[at])
        if cells > width:
            return at
    return end

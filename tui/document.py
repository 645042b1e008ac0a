"""The item as rows to read: its text, an appellant's statement, a case's facts as a table.

A large content is taken in by slices, each made safe and wrapped when it is asked for, so that a
megabyte on one line costs no more to open than a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Any

from rich.cells import cell_len

from shared.evidence import Evidence
from tui.characters import Kind
from tui.safe_text import SafeText, safe_text
from tui.wrap import wrap

SLICE = 64 * 1024
"""Characters taken in at a time."""
_CUT_BACK = 64
_NAME_SHARE = 3
_NAME_MOST = 28


@unique
class Role(StrEnum):
    """What a part is, and so how it is drawn."""

    TEXT = "text"
    HEADING = "heading"
    FACT = "fact"


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the item as received; `name` is the name of a fact."""

    role: Role
    text: str
    name: str = ""
    hits: tuple[tuple[int, int], ...] = ()
    """Stretches that a rule points at."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A slice of a part, made safe. `base` is where it begins in the whole item, in characters."""

    role: Role
    body: SafeText
    name: SafeText | None
    base: int
    source_length: int
    hits: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One row: a stretch of the piece's body, and of its name to the left of it."""

    piece: Piece
    start: int
    end: int
    indent: int = 0
    name: tuple[int, int] | None = None

    @property
    def seen_to(self) -> int:
        """How far into the item the reader is after this row, in characters of the source."""
        whole = len(self.piece.body.plain)
        share = 1.0 if whole == 0 else self.end / whole
        return self.piece.base + round(self.piece.source_length * share)


def parts_of(evidence: Evidence) -> tuple[Part, ...]:
    """Return what there is to read in `evidence`, in reading order."""
    return tuple(_parts(evidence))


def _parts(evidence: Evidence) -> Iterator[Part]:
    content = evidence.content
    if content.text is not None:
        hits = tuple(
            (rule.start, rule.end)
            for rule in evidence.rules
            if rule.start is not None and rule.end is not None and rule.end > rule.start
        )
        yield Part(Role.TEXT, content.text, hits=hits)
    if evidence.statement:
        yield Part(Role.HEADING, "The author's statement")
        yield Part(Role.TEXT, evidence.statement)
    if content.fields:
        if content.text is not None or evidence.statement:
            yield Part(Role.HEADING, "Facts of the case")
        for name, value in flatten(content.fields):
            yield Part(Role.FACT, value, name)
    if evidence.attachments:
        yield Part(Role.HEADING, "Attachments (SHA-256): f saves")
        for digest in evidence.attachments:
            yield Part(Role.TEXT, short_hash(digest))


def short_hash(digest: str) -> str:
    """Return the ends of a hash."""
    return f"{digest[:4]}…{digest[-4:]}"


def flatten(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each leaf of nested facts with its path: `document.pages[0].issuer`."""
    stack = [(path, value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict) and value:
            children = [(f"{path}.{key}" if path else key, each) for key, each in value.items()]
            stack.extend(reversed(children))
        elif isinstance(value, (list, tuple)) and value:
            stack.extend(reversed([(f"{path}[{n}]", each) for n, each in enumerate(value)]))
        else:
            yield path, _leaf(value)


def _leaf(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "(none)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "(empty)" if value in ({}, [], ()) else str(value)


class Document:
    """What has been taken in of an item so far; `take` takes in more."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple(parts)
        self.total = sum(len(part.text) + len(part.name) for part in self._parts)
        self.loaded = 0
        self._next = (0, 0)

    @property
    def whole(self) -> bool:
        """Whether everything has been taken in."""
        return self._next[0] >= len(self._parts)

    def take(self, budget: int = SLICE) -> list[Piece]:
        """Take in about `budget` more characters and return them as new pieces."""
        taken: list[Piece] = []
        while budget > 0 and not self.whole:
            piece = self._slice(budget)
            taken.append(piece)
            self.loaded += piece.source_length
            budget -= max(piece.source_length, 16)
        return taken

    def _slice(self, budget: int) -> Piece:
        place, start = self._next
        part = self._parts[place]
        end = _cut(part.text, start, start + budget)
        self._next = (place, end) if end < len(part.text) else (place + 1, 0)
        body = safe_text(part.text[start:end])
        name = safe_text(part.name, lines=False) if part.name and start == 0 else None
        return Piece(
            role=part.role,
            body=body,
            name=name,
            base=self.loaded,
            source_length=end - start + (len(part.name) if start == 0 else 0),
            hits=_clipped(part.hits, start, end, body),
        )


def _clipped(
    hits: tuple[tuple[int, int], ...], start: int, end: int, body: SafeText
) -> tuple[tuple[int, int], ...]:
    return tuple(
        (body.locate(max(first, start) - start), body.locate(min(last, end) - start))
        for first, last in hits
        if first < end and last > start
    )


def _cut(text: str, start: int, end: int) -> int:
    """Return a place near `end` to cut at: best before a plain character, so no cluster breaks."""
    if end >= len(text):
        return len(text)
    for at in range(end, max(start + 1, end - _CUT_BACK), -1):
        if text[at].isascii() and text[at] != "\n":
            return at
    return end


def lines_of(pieces: Iterable[Piece], width: int) -> list[Line]:
    """Return the rows of `pieces` at `width` cells."""
    rows: list[Line] = []
    known = list(pieces)
    column = _name_column(known, width)
    for piece in known:
        rows.extend(_fact(piece, column, width) if piece.role is Role.FACT else _text(piece, width))
    return rows


def _text(piece: Piece, width: int) -> Iterator[Line]:
    if piece.role is Role.HEADING and piece.base > 0:
        yield Line(piece, 0, 0)  # a blank row above
    for start, end in wrap(piece.body.plain, width):
        yield Line(piece, start, end)


def _fact(piece: Piece, column: int, width: int) -> Iterator[Line]:
    indent = column + 2
    values = wrap(piece.body.plain, width - indent)
    label = piece.name.plain if piece.name is not None else ""
    if cell_len(label) > column:
        for start, end in wrap(label, width):
            yield Line(piece, 0, 0, 0, (start, end))
        label = ""
    for place, (start, end) in enumerate(values):
        yield Line(piece, start, end, indent, (0, len(label)) if place == 0 and label else None)


def _name_column(pieces: list[Piece], width: int) -> int:
    most = min(_NAME_MOST, width // _NAME_SHARE)
    names = [cell_len(piece.name.plain) for piece in pieces if piece.name is not None]
    return max((cells for cells in names if cells <= most), default=most if names else 0)


def oddities(pieces: Iterable[Piece]) -> tuple[int, int]:
    """Return how many hidden or control characters were made visible, and how many mixed words."""
    texts = [text for piece in pieces for text in (piece.body, piece.name) if text is not None]
    made_visible = sum(text.count(Kind.CONTROL, Kind.HIDDEN) for text in texts)
    return made_visible, sum(text.count(Kind.MIXED) for text in texts)

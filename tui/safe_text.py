"""The one sanitiser: every string that reaches the screen has passed through it.

A terminal obeys control characters, reorders a line for others, hides some, and smears
combining marks over their neighbours. Here each of them becomes a visible tag such as `‹ESC›`,
so that what is left is printable, has a width, and stays in its cells. Pure, total (any str, lone
surrogates too) and idempotent.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from tui import characters, scripts
from tui.characters import Kind

ACCENT_LIMIT = 2
"""Accents kept over one character; the rest are counted."""
MARK_LIMIT = 4
"""Marks of any sort kept over one character: what living scripts need."""
RUN_LIMIT = 3
"""Equal tags shown one by one; a longer run is counted."""
TAB_STOP = 4

_SUSPECT = re.compile(r"[^\x20-\x7e\n]")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of safe text, in its own offsets, and why it is marked."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class SafeText:
    """Text that may be shown: printable characters and line feeds only.

    `edits` are (source start, source end, safe start, safe end) of each stretch that differs, in
    order, so that offsets of the source can be found again.
    """

    plain: str
    spans: tuple[Span, ...] = ()
    edits: tuple[tuple[int, int, int, int], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return self.plain

    def locate(self, offset: int) -> int:
        """Return where `offset` of the source stands in `plain`."""
        place = bisect_right(self.edits, offset, key=lambda edit: edit[0]) - 1
        if place < 0:
            return min(max(offset, 0), len(self.plain))
        _, source_end, safe_start, safe_end = self.edits[place]
        if offset < source_end:
            return safe_start
        return min(safe_end + offset - source_end, len(self.plain))

    def spans_between(self, start: int, end: int) -> tuple[Span, ...]:
        """Return the marked stretches that meet `start` to `end` of `plain`."""
        first = bisect_right(self.spans, start, key=lambda span: span.start) - 1
        while first > 0 and self.spans[first - 1].end > start:
            first -= 1
        last = bisect_left(self.spans, end, key=lambda span: span.start)
        return tuple(span for span in self.spans[max(first, 0) : last] if span.end > start)

    def count(self, *kinds: Kind) -> int:
        """Return how many stretches are marked for one of `kinds`."""
        return sum(span.kind in kinds for span in self.spans)


def safe_text(source: str, *, lines: bool = True) -> SafeText:
    """Return `source` made safe; without `lines`, a line feed is shown as a tag as well."""
    if _SUSPECT.search(source) is None and (lines or "\n" not in source):
        return SafeText(source)
    cleaner = _Cleaner(source, lines)
    cleaner.run()
    return cleaner.result()


def safe_line(source: str) -> str:
    """Return `source` as one safe line of plain text."""
    return safe_text(source, lines=False).plain


class _Cleaner:
    """One pass over the source; copies what may pass, replaces what may not."""

    def __init__(self, source: str, lines: bool) -> None:
        self.source = source
        self.lines = lines
        self.suspect = _SUSPECT if lines else re.compile(r"[^\x20-\x7e]")
        self.parts: list[str] = []
        self.length = 0
        self.spans: list[Span] = []
        self.edits: list[tuple[int, int, int, int]] = []
        self.base = False
        """Whether a character that can carry a combining mark stands right before."""

    def run(self) -> None:
        at = 0
        while (match := self.suspect.search(self.source, at)) is not None:
            if match.start() > at:
                self.copy(at, match.start())
                self.base = self.source[match.start() - 1] not in " \n"
            at = self.step(match.start())
        self.copy(at, len(self.source))

    def result(self) -> SafeText:
        plain = "".join(self.parts)
        mixed = [Span(start, end, Kind.MIXED) for start, end in scripts.mixed_words(plain)]
        spans = sorted([*self.spans, *mixed], key=lambda span: span.start)
        return SafeText(plain, tuple(spans), tuple(self.edits))

    def step(self, at: int) -> int:
        """Handle the suspect character at `at`; return where to go on."""
        character = self.source[at]
        if character in "\r\t" or character.isspace():
            return self.blank(at, character)
        if characters.is_jamo(character):
            return self.jamo(at)
        if "\ufe00" <= character <= "\ufe0f" or character == "\u200d":
            return self.joiner(at, character)
        if (found := characters.replacement(character)) is not None:
            return self.tag(at, *found)
        if characters.is_mark(character):
            return self.marks(at)
        self.copy(at, at + 1)
        self.base = True
        return at + 1

    def blank(self, at: int, character: str) -> int:
        """Handle a tab, a line break of another system, or one of Unicode's many spaces."""
        if character == "\r" and self.lines and self.source[at + 1 : at + 2] == "\n":
            return self.put(at, at + 1, "")
        if character == "\t":
            return self.put(at, at + 1, " " * TAB_STOP)
        if unicodedata.category(character) == "Zs":
            return self.put(at, at + 1, "  " if character == "\u3000" else " ")
        found = characters.replacement(character)
        return self.tag(at, *(found or ("‹SPACE›", Kind.CONTROL)))

    def jamo(self, at: int) -> int:
        """Compose Hangul letters into syllables; what is left over has no width of its own."""
        end = at
        while end < len(self.source) and characters.is_jamo(self.source[end]):
            end += 1
        composed = unicodedata.normalize("NFC", self.source[at:end])
        if composed == self.source[at]:
            found = characters.replacement(composed)
            if found is not None:
                return self.tag(at, *found)
            self.copy(at, end)
        else:
            shown = "".join((characters.replacement(one) or (one, None))[0] for one in composed)
            self.put(at, end, shown)
        self.base = not self.parts[-1].endswith("›")
        return end

    def joiner(self, at: int, character: str) -> int:
        """Split emoji at their joiners, and drop a single selector of their form."""
        before = self.source[at - 1] if at else ""
        after = self.source[at + 1 : at + 2]
        joins = self.emoji_before(at) and after != "" and characters.is_pictograph(after)
        if character == "\u200d" and joins:
            return self.put(at, at + 1, "")
        if character in "\ufe0e\ufe0f" and before and _takes_selector(before):
            base = self.base
            self.put(at, at + 1, "")
            self.base = base
            return at + 1
        found = characters.replacement(character)
        assert found is not None
        return self.tag(at, *found)

    def emoji_before(self, at: int) -> bool:
        """Tell whether an emoji, perhaps with a tone or selector, stands before `at`."""
        before = self.source[max(0, at - 2) : at].rstrip("\ufe0f" + characters.TONES)
        return bool(before) and characters.is_pictograph(before[-1])

    def marks(self, at: int) -> int:
        """Keep the first marks over a character that can carry them; count the others."""
        end = at
        while end < len(self.source) and _is_plain_mark(self.source[end]):
            end += 1
        kept = _kept_marks(self.source[at:end]) + at if self.base else at
        self.copy(at, kept)
        if end > kept:
            more = "+" if kept > at else ""
            name = f"‹{more}{end - kept} mark{'s' * (end - kept > 1)}›"
            self.put(kept, end, name, Kind.HIDDEN)
        return end

    def tag(self, at: int, shown: str, kind: Kind) -> int:
        """Replace a character, or a long run of it, by its tag."""
        end = at + 1
        while end < len(self.source) and self.source[end] == self.source[at]:
            end += 1
        if end - at > RUN_LIMIT:
            return self.put(at, end, f"{shown[:-1]}×{end - at}›", kind)
        return self.put(at, at + 1, shown, kind)

    def copy(self, start: int, end: int) -> None:
        if end > start:
            self.parts.append(self.source[start:end])
            self.length += end - start

    def put(self, start: int, end: int, shown: str, kind: Kind | None = None) -> int:
        """Show `shown` in place of a stretch of the source; return the end of the stretch."""
        safe_end = self.length + len(shown)
        self.edits.append((start, end, self.length, safe_end))
        if kind is not None:
            self.spans.append(Span(self.length, safe_end, kind))
        self.parts.append(shown)
        self.length = safe_end
        self.base = False
        return end


def _kept_marks(run: str) -> int:
    accents = 0
    for place, mark in enumerate(run[:MARK_LIMIT]):
        accents += characters.is_diacritic(mark)
        if accents > ACCENT_LIMIT:
            return place
    return min(len(run), MARK_LIMIT)


def _is_plain_mark(character: str) -> bool:
    return characters.is_mark(character) and characters.replacement(character) is None


def _takes_selector(before: str) -> bool:
    """Emoji, and the digits and signs that have an emoji form, may carry a selector."""
    return before in "0123456789#*" or unicodedata.category(before) in ("So", "Sm", "Po", "Pd")

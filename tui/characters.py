"""What single characters are to a terminal: names for what must not reach it.

Widths need no table of ours: over every character that passes, the library that paints and the
one that emulates a terminal in the tests agree; the two groups on which they don't (regional
indicators, skin tones) are spelled out instead.
"""

# ruff: noqa: PLR2004  (a code point is its own name)

from __future__ import annotations

import unicodedata
from enum import StrEnum, unique


@unique
class Kind(StrEnum):
    """Why a stretch of safe text differs from its source, or deserves a second look."""

    CONTROL = "control"
    """Could steer the terminal or reorder the line."""
    HIDDEN = "hidden"
    """Would be invisible, or smear over its neighbours."""
    SPELLED = "spelled"
    """Harmless, but terminals disagree on its width, so it is spelled out."""
    MIXED = "mixed"
    """A word whose letters come from look-alike alphabets; the text itself is unchanged."""


_C0 = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS",
    "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB",
    "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
]  # fmt: skip
_STEERING = {
    0x7F: "DEL", 0x85: "NEL", 0x90: "DCS", 0x9B: "CSI", 0x9C: "ST", 0x9D: "OSC", 0x9E: "PM",
    0x9F: "APC", 0x061C: "ALM", 0x200E: "LRM", 0x200F: "RLM", 0x2028: "LS", 0x2029: "PS",
    0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO",
    0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI",
}  # fmt: skip
_UNSEEN = {
    0x00AD: "SHY", 0x034F: "CGJ", 0x115F: "FILLER", 0x1160: "FILLER", 0x17B4: "AQ", 0x17B5: "AA",
    0x180B: "FVS1", 0x180C: "FVS2", 0x180D: "FVS3", 0x180E: "MVS", 0x180F: "FVS4",
    0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0x2060: "WJ", 0x2061: "FN", 0x2062: "TIMES",
    0x2063: "SEP", 0x2064: "PLUS", 0x2800: "BLANK", 0x3164: "FILLER", 0xFEFF: "BOM",
    0xFFA0: "FILLER",
}  # fmt: skip
_DIACRITICS = (
    ("\u0300", "\u036f"), ("\u0483", "\u0489"), ("\u1ab0", "\u1aff"), ("\u1dc0", "\u1dff"),
    ("\u20d0", "\u20ff"), ("\ufe20", "\ufe2f"),
)  # fmt: skip
_NEVER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_TONES = {0x1F3FB: "light", 0x1F3FC: "medium light", 0x1F3FD: "medium", 0x1F3FE: "medium dark",
          0x1F3FF: "dark"}  # fmt: skip
TONES = "".join(map(chr, _TONES))


def replacement(character: str) -> tuple[str, Kind] | None:
    """Return the visible tag for `character` and why it needs one, or None if it may pass.

    Combining marks and spaces are not judged here: they depend on what stands before them.
    """
    code = ord(character)
    if (name := _hidden_name(code, character)) is not None:
        return f"‹{name}›", Kind.HIDDEN
    if code in _TONES:
        return f"‹{_TONES[code]} tone›", Kind.SPELLED
    if 0x1F1E6 <= code <= 0x1F1FF:
        return f"‹flag {chr(code - 0x1F1E6 + 65)}›", Kind.SPELLED
    if unicodedata.category(character) in _NEVER:
        return f"‹{_steering_name(code)}›", Kind.CONTROL
    return None


def _hidden_name(code: int, character: str) -> str | None:
    if code in _UNSEEN:
        return _UNSEEN[code]
    if 0xE0020 <= code <= 0xE007E:
        return f"TAG {chr(code - 0xE0000)}"
    if (selector := _selector(code)) is not None:
        return f"VS{selector}"
    return f"U+{code:04X}" if is_jamo_tail(character) else None


def is_mark(character: str) -> bool:
    """Tell whether `character` takes no cell of its own, but is drawn over the last one."""
    return unicodedata.category(character) in ("Mn", "Me", "Mc")


def is_diacritic(character: str) -> bool:
    """Tell whether `character` is a mark for any alphabet: an accent, the stuff of zalgo.

    The vowel signs of Thai or Burmese are not: up to four of them over one letter are ordinary.
    """
    return any(first <= character <= last for first, last in _DIACRITICS)


def is_jamo(character: str) -> bool:
    """Tell whether `character` is a Hangul letter that composes with its neighbours."""
    return "\u1100" <= character <= "\u11ff" or is_jamo_tail(character)


def is_jamo_tail(character: str) -> bool:
    """Tell whether `character` is a Hangul vowel or final that has no width of its own."""
    return "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb"


def is_pictograph(character: str) -> bool:
    """Tell whether `character` may be a part of a joined emoji."""
    return unicodedata.category(character) == "So"


def _selector(code: int) -> int | None:
    if 0xFE00 <= code <= 0xFE0F:
        return code - 0xFE00 + 1
    if 0xE0100 <= code <= 0xE01EF:
        return code - 0xE0100 + 17
    return None


def _steering_name(code: int) -> str:
    if code < len(_C0):
        return _C0[code]
    if code in _STEERING:
        return _STEERING[code]
    return f"{code:02X}" if code < 0xA0 else f"U+{code:04X}"

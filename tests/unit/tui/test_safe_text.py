"""The sanitiser: what may never come out of it, whatever goes in."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.characters import Kind
from tui.safe_text import ACCENT_LIMIT, MARK_LIMIT, safe_line, safe_text

HOSTILE = [
    json.loads(line)
    for line in Path(__file__).with_name("hostile.jsonl").read_text().splitlines()
    if line
]
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
UNSEEN = (
    "\u00ad\u034f\u115f\u1160\u180e\u200b\u200c\u200d\u2060"
    "\u2061\u2064\u2800\u3164\ufe0f\ufeff\uffa0"
)
ANY_CODE_POINT = st.integers(0, 0x10FFFF).map(chr)
NASTY = st.sampled_from(
    [
        *BIDI, *UNSEEN, *map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), "\u0301", "\u0e47", "a",
        " ", "\ud800", "\udfff", "\U000e0041", "\U0001f468", "\U0001f3ff", "\U0001f1e9", "\u1112",
        "\u1161", "[", "]", "/", "‹", "›", "ESC", "\u2028", "\r\n", "\u3000", "\u00a0", "\ufffe",
        "\U000e0100",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(NASTY, max_size=60).map("".join),
    st.lists(ANY_CODE_POINT, max_size=60).map("".join),
    st.lists(st.one_of(NASTY, ANY_CODE_POINT), max_size=60).map("".join),
)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines", "two\nlines"),
        ("dos\r\nline", "dos\nline"),
        ("over\rwrite", "over‹CR›write"),
        ("tab\tbed", "tab    bed"),
        ("\x1b[2J", "‹ESC›[2J"),
        ("\x9b31m", "‹CSI›31m"),
        ("\x1b]52;c;aGk=\x07", "‹ESC›]52;c;aGk=‹BEL›"),
        ("\x1bP$qm\x1b\\", "‹ESC›P$qm‹ESC›\\"),
        ("\x00" * 9, "‹NUL×9›"),
        ("\u202e001$\u202c", "‹RLO›001$‹PDF›"),
        ("pay\u200bpal", "pay‹ZWSP›pal"),
        ("\ud83d", "‹U+D83D›"),
        ("\U000e0041\U000e0042", "‹TAG A›‹TAG B›"),
        ("Z" + "\u0301" * 13, "Z\u0301\u0301‹+11 marks›"),
        ("\u0301x", "‹1 mark›x"),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468\U0001f469\U0001f467"),
        ("\u2764\ufe0f", "\u2764"),
        ("x\ufe0f", "x‹VS16›"),
        ("\U0001f44d\U0001f3ff", "\U0001f44d‹dark tone›"),
        ("\U0001f1e9\U0001f1ea", "‹flag D›‹flag E›"),
        ("\u1112\u1161\u11ab", "한"),
        ("non\u00a0breaking", "non breaking"),
        ("\u3164", "‹FILLER›"),
        ("ก็่", "ก็่"),
        ("[/] [@click=app.quit]x", "[/] [@click=app.quit]x"),
    ],
)
def test_each_source_is_shown_so(source: str, shown: str) -> None:
    assert safe_text(source).plain == shown


@given(TEXTS)
@settings(max_examples=800, deadline=None)
def test_no_control_bidi_or_invisible_character_survives(source: str) -> None:
    shown = safe_text(source).plain
    for character in shown.replace("\n", ""):
        assert character.isprintable(), hex(ord(character))
        assert character not in BIDI
        assert character not in UNSEEN
        assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


@given(TEXTS)
@settings(max_examples=800, deadline=None)
def test_cleaning_twice_is_cleaning_once(source: str) -> None:
    once = safe_text(source).plain
    assert safe_text(once).plain == once


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_marks_never_pile_up_and_never_lean_on_what_is_not_theirs(source: str) -> None:
    run = accents = 0
    before = "\n"
    for character in safe_text(source).plain:
        if unicodedata.category(character) in ("Mn", "Me", "Mc"):
            run += 1
            accents += "\u0300" <= character <= "\u036f"
            assert before not in " \n›"
            assert run <= MARK_LIMIT
            assert accents <= ACCENT_LIMIT
        else:
            run = accents = 0
            before = character


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_a_line_is_one_line(source: str) -> None:
    assert "\n" not in safe_line(source)


@given(TEXTS, st.integers(0, 80))
@settings(max_examples=400, deadline=None)
def test_offsets_of_the_source_are_found_again(source: str, offset: int) -> None:
    safe = safe_text(source)
    places = [safe.locate(at) for at in range(len(source) + 1)]
    assert places == sorted(places)
    assert places[0] == 0 or safe.edits[0][0] == 0
    assert all(0 <= place <= len(safe.plain) for place in places)
    if offset < len(source) and source[offset].isascii() and source[offset].isalnum():
        assert safe.plain[safe.locate(offset)] == source[offset]


def test_marked_stretches_cover_the_tags_and_nothing_else() -> None:
    safe = safe_text("a\x1bb\u200bc")
    assert [(safe.plain[s.start : s.end], s.kind) for s in safe.spans] == [
        ("‹ESC›", Kind.CONTROL),
        ("‹ZWSP›", Kind.HIDDEN),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("visit p\u0430ypal now", ["p\u0430ypal"]),
        ("\u0440\u0443\u0441\u0441\u043a\u0438\u0439 and english", []),
        ("\u0397ello w\u03bfrld", ["\u0397ello", "w\u03bfrld"]),
        ("iPhone\u306e\u5bb6\u65cf", []),
        ("na\u00efve caf\u00e9", []),
    ],
)
def test_words_of_mixed_alphabets_are_marked(text: str, words: list[str]) -> None:
    safe = safe_text(text)
    assert [safe.plain[s.start : s.end] for s in safe.spans if s.kind is Kind.MIXED] == words


@pytest.mark.parametrize("row", HOSTILE, ids=lambda row: row["id"])
def test_every_hostile_sample_comes_out_printable(row: dict[str, str]) -> None:
    shown = safe_text(row["text"]).plain
    assert all(character.isprintable() for character in shown.replace("\n", ""))
    assert cell_len(shown.replace("\n", "")) >= 0


def test_a_long_word_of_mixed_text_costs_linear_time() -> None:
    started = time.monotonic()
    safe_text("a" * 65_536 + "\u0430" + "\x1b" * 65_536 + "é\u0301" * 30_000)
    assert time.monotonic() - started < 2.0

"""Items as rows: nothing is lost, nothing is wider than its pane, large ones come in slices."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui import samples
from tui.document import SLICE, Document, Part, Role, flatten, lines_of, oddities, parts_of
from tui.safe_text import safe_text
from tui.wrap import wrap

TEXTS = st.text(st.characters(codec="utf-8"), max_size=200)


@given(TEXTS, st.integers(4, 60))
@settings(max_examples=400, deadline=None)
def test_rows_fit_and_lose_nothing_but_the_spaces_they_break_at(text: str, width: int) -> None:
    safe = safe_text(text).plain
    rows = list(wrap(safe, width))
    assert all(cell_len(safe[start:end]) <= width for start, end in rows)
    kept = "".join(safe[start:end] for start, end in rows)
    assert kept.replace(" ", "") == safe.replace(" ", "").replace("\n", "")
    assert [start for start, _ in rows] == sorted(start for start, _ in rows)


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("", 10, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a\n\nb", 9, ["a", "", "b"]),
        ("家族家族", 5, ["家族", "家族"]),
        ("   indented words", 11, ["   indented", "words"]),
    ],
)
def test_words_break_at_spaces_and_long_ones_anywhere(
    text: str, width: int, rows: list[str]
) -> None:
    assert [text[start:end] for start, end in wrap(text, width)] == rows


def test_no_row_begins_with_a_combining_mark() -> None:
    text = "e\u0301" * 50
    assert all(text[start] == "e" for start, _ in wrap(text, 7))


def test_facts_are_flattened_with_their_paths() -> None:
    assert dict(flatten({"a": {"b": [1, {"c": None}]}, "d": True, "e": [], "f": ""})) == {
        "a.b[0]": "1", "a.b[1].c": "(none)", "d": "yes", "e": "(empty)", "f": "",
    }  # fmt: skip


def test_a_case_shows_every_fact() -> None:
    document = Document(parts_of(samples.kyc()))
    pieces = document.take()
    names = [piece.name.plain for piece in pieces if piece.name is not None]
    assert "document.pages[1]" in names
    assert len(names) == len(list(flatten(samples.KYC)))
    assert document.whole


def test_a_name_too_long_for_its_column_gets_rows_of_its_own() -> None:
    document = Document([Part(Role.FACT, "value", "n" * 200)])
    rows = lines_of(document.take(), 40)
    shown = [row.piece.name.plain[slice(*row.name)] for row in rows if row.name and row.piece.name]
    assert "".join(shown) == "n" * 200


def test_a_deeply_nested_fact_is_no_trouble() -> None:
    value: object = "leaf"
    for _ in range(5000):
        value = {"k": value}
    assert next(flatten(value))[1] == "leaf"


@pytest.mark.parametrize(
    "text", ["x" * 300_000, "word " * 60_000, "e\u0301" * 150_000, "家\n" * 100_000]
)
def test_slices_add_up_to_the_whole_and_cut_no_cluster(text: str) -> None:
    document = Document([Part(Role.TEXT, text)])
    pieces = []
    while not document.whole:
        before = document.loaded
        pieces += document.take()
        assert document.loaded - before <= SLICE
    assert document.loaded == document.total == len(text)
    assert "".join(piece.body.plain for piece in pieces) == text
    assert oddities(pieces) == (0, 0)


def test_seen_counts_characters_of_the_source() -> None:
    document = Document([Part(Role.TEXT, "\x1b" * 3 + "x" * 97), Part(Role.TEXT, "y" * 100)])
    rows = lines_of(document.take(), 50)
    assert rows[-1].seen_to == document.total == 200
    assert [row.seen_to for row in rows] == sorted(row.seen_to for row in rows)


def test_a_rule_hit_is_found_behind_characters_that_were_replaced() -> None:
    text = "\x1b[31m\u200b cans and a lighter"
    hit = samples.hit(text, "cans and a lighter")
    document = Document(parts_of(samples.evidence(text, hits=(hit,))))
    piece = document.take()[0]
    (start, end) = piece.hits[0]
    assert piece.body.plain[start:end] == "cans and a lighter"


def test_a_rule_hit_across_two_slices_is_marked_in_both() -> None:
    text = "x" * 200
    document = Document([Part(Role.TEXT, text, hits=((90, 110),))])
    first, second = document.take(100)[0], document.take(100)[0]
    assert first.hits == ((90, 100),)
    assert second.hits[0] == (0, 10)


def test_an_attachment_is_one_short_row_and_never_broken() -> None:
    digest = "f61e" + "0" * 56 + "1865"
    item = msgspec.structs.replace(samples.kyc(), attachments=(digest,))
    parts = parts_of(item)
    assert [part.text for part in parts[-2:]] == ["Attachments (SHA-256): f saves", "f61e…1865"]

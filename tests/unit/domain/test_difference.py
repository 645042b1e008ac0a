"""What changed between two texts, and between two showings: true, readable, and never slow."""

from __future__ import annotations

import time
import unicodedata
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.domain import difference
from backend.domain.difference import (
    LONGEST_ANSWER,
    MOST_EDITS,
    MOST_FIELDS,
    MOST_WORDS,
    evidence_change,
    text_changes,
)
from shared.evidence import Evidence, ShownContent, ShownLabel
from shared.vocabulary import Band
from shared.wire.evidence import EvidenceChange, LabelChange, TextChange

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
MEBIBYTE = 2**20
words = st.lists(
    st.sampled_from(
        ["a", "b", "ab", " ", "  ", "\n", "e\u0301", FAMILY, "\U0001f44d\U0001f3fd", "\u5b57"]
    )
).map("".join)


def put_in(before: str, after: str, changes: tuple[TextChange, ...]) -> str:
    """Put each place of the new text in that of the old one."""
    parts, at = [], 0
    for change in changes:
        parts += [before[at : change.before_start], after[change.after_start : change.after_end]]
        at = change.before_end
    return "".join([*parts, before[at:]])


def spans(before: str, after: str) -> list[tuple[str, str]]:
    return [
        (before[c.before_start : c.before_end], after[c.after_start : c.after_end])
        for c in text_changes(before, after)
    ]


@given(before=words, after=words)
@example(before="", after="a")
@example(before="a", after="")
@example(before="a b a", after="a a")
def test_the_places_put_into_the_old_text_give_the_new_one(before: str, after: str) -> None:
    changes = text_changes(before, after)
    assert put_in(before, after, changes) == after
    assert bool(changes) is (before != after)
    for first, then in pairwise(changes):
        assert first.before_end < then.before_start
        assert first.after_end < then.after_start


@given(before=st.text(), after=st.text())
def test_so_do_those_of_any_two_texts(before: str, after: str) -> None:
    assert put_in(before, after, text_changes(before, after)) == after


@given(before=words, after=words)
def test_no_place_cuts_a_letter_from_its_marks(before: str, after: str) -> None:
    for change in text_changes(before, after):
        for text, at in (
            (before, change.before_start),
            (before, change.before_end),
            (after, change.after_start),
            (after, change.after_end),
        ):
            if 0 < at < len(text):
                assert not unicodedata.combining(text[at])
                assert "\u200d" not in text[at - 1 : at + 1]
                assert text[at] != "\U0001f3fd"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("he takes the bus", "he took the bus", [("takes", "took")]),
        ("one two three", "one three", [("two ", "")]),
        ("one three", "one two three", [("", "two ")]),
        ("a b c d e f", "a x c d y f", [("b", "x"), ("e", "y")]),
        ("see you there", "meet him there", [("see you", "meet him")]),
        ("cat", "cats", [("cat", "cats")]),
        ("cafe\u0301 now", "cafe now", [("cafe\u0301", "cafe")]),
        ("same", "same", []),
        ("", "new", [("", "new")]),
    ],
)
def test_changes_are_told_in_whole_words(
    before: str, after: str, told: list[tuple[str, str]]
) -> None:
    assert spans(before, after) == told


def test_where_there_are_no_words_characters_are_told() -> None:
    line = "\u5b57" * 300
    assert spans(line + "\u4e00" + line, line + "\u4e8c" + line) == [("\u4e00", "\u4e8c")]
    word = "x" * MEBIBYTE
    assert spans(word + "a", word + "b") == [("a", "b")]


def test_more_edits_than_anybody_would_read_are_told_as_one() -> None:
    before = " ".join(f"w{n} same" for n in range(MOST_EDITS))
    after = " ".join(f"v{n} same" for n in range(MOST_EDITS))
    assert len(text_changes(before, after)) == 1
    few = after.replace(" same v", " same w", MOST_EDITS - 20)
    assert 1 < len(text_changes(before, few)) <= 21


def test_work_has_an_end() -> None:
    """Equal words that moved: few edits, and yet more work than is done for anybody."""
    moved, same = "c " * 90, "a " * 24_000
    assert len(text_changes(f"x {moved}{same}y", f"z {same}{moved}w")) == 1
    assert len(text_changes(f"x {moved}{same[:2000]}y", f"z {same[:2000]}{moved}w")) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * (MEBIBYTE // 2), "b " * (MEBIBYTE // 2)),
        ("\u200d " * (MEBIBYTE // 2), "\u200d\n" * (MEBIBYTE // 2)),
        ("a" + "\u0301" * MEBIBYTE, "b" + "\u0301" * MEBIBYTE),
        ("\u0301" * MEBIBYTE + "a", "\u0301" * MEBIBYTE + "b"),
    ],
    ids=["words", "joiners", "marks at the end", "marks at the beginning"],
)
def test_no_more_seams_are_looked_at_than_would_be_compared(
    before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work is counted, not time: however long the texts are, the rest is never looked at."""
    looked_at = 0
    is_glued = difference._is_glued

    def counted(text: str, at: int) -> bool:
        nonlocal looked_at
        looked_at += 1
        return is_glued(text, at)

    monkeypatch.setattr(difference, "_is_glued", counted)
    changes = text_changes(before, after)
    assert looked_at <= 2 * MOST_WORDS
    assert len(changes) == 1
    assert put_in(before, after, changes) == after


def test_as_many_words_as_may_be_are_compared_and_not_one_more() -> None:
    middle = "a " * (MOST_WORDS // 2 - 2)
    assert len(text_changes(f"w {middle}x ", f"y {middle}z ")) == 2
    assert len(text_changes(f"w {middle}a x ", f"y {middle}a z ")) == 1


HOSTILE = {
    "equal words": (
        "a " * (MEBIBYTE // 2),
        "a " * (MEBIBYTE // 4) + "b " + "a " * (MEBIBYTE // 4 - 1),
    ),
    "equal words, other ends": ("x " + "a b " * 2**16 + "y", "z " + "b a " * 2**16 + "w"),
    "alternating": ("a b " * 10_000, "a a b " * 10_000),
    "one word": ("x" * MEBIBYTE, "y" * MEBIBYTE),
    "nearly one word": ("x" * MEBIBYTE, "x" * (MEBIBYTE - 1) + "y"),
    "emoji": (FAMILY * (MEBIBYTE // 18), FAMILY * (MEBIBYTE // 18 - 1) + "x"),
    "marks": ("e" + "\u0301" * (MEBIBYTE // 2), "e" + "\u0301" * (MEBIBYTE // 2 - 1)),
    "flags": ("\U0001f1e6" * (MEBIBYTE // 4), "\U0001f1e6" * (MEBIBYTE // 4 - 1)),
    "gaps": (" \n" * (MEBIBYTE // 2), " \t" * (MEBIBYTE // 2)),
    "all and nothing": ("word " * (MEBIBYTE // 5), ""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_no_longer_than_a_moment(name: str) -> None:
    before, after = HOSTILE[name]
    for old, new in ((before, after), (after, before)):
        begun = time.perf_counter()
        changes = text_changes(old, new)
        assert time.perf_counter() - begun < 5
        assert put_in(old, new, changes) == new


def label(category: str, score: str | None, band: Band) -> ShownLabel:
    return ShownLabel(
        category=category,
        score=score,
        low="0.2",
        high="0.9",
        band=band,
        severity=10,
        fail_closed=False,
    )


def shown(text: str | None = "hello", revision: int = 1, **more: Any) -> Evidence:
    fields = more.pop("fields", {})
    return Evidence(
        nonce="00",
        revision=revision,
        content=ShownContent(content_id="c-1", kind="post", text=text, fields=fields),
        policy_version="p-1",
        **more,
    )


def change(before: Evidence | None, after: Evidence) -> EvidenceChange:
    return evidence_change(before, after, "b" * 64, "a" * 64)


def test_a_label_that_crosses_a_band_is_told_as_such_and_an_equal_one_not_at_all() -> None:
    before = shown(labels=(label("hate", "0.5", Band.REVIEW), label("spam", "0.1", Band.ALLOW)))
    after = shown(
        labels=(
            label("hate", "0.95", Band.BLOCK),
            label("spam", "0.1", Band.ALLOW),
            label("terror", "0.3", Band.REVIEW),
        )
    )
    assert change(before, after).labels == (
        LabelChange(
            category="hate",
            before="0.5",
            after="0.95",
            band_before=Band.REVIEW,
            band_after=Band.BLOCK,
            crossed=True,
        ),
        LabelChange(
            category="terror",
            before=None,
            after="0.3",
            band_before=None,
            band_after=Band.REVIEW,
            crossed=True,
        ),
    )
    within = shown(labels=(label("hate", "0.6", Band.REVIEW), label("spam", "0.1", Band.ALLOW)))
    (moved,) = change(before, within).labels
    assert (moved.before, moved.after, moved.crossed) == ("0.5", "0.6", False)
    (gone,) = change(after, shown(labels=after.labels[:2])).labels
    assert (gone.category, gone.after, gone.crossed) == ("terror", None, True)


def test_fields_are_told_by_name_and_true_is_not_one() -> None:
    before = shown(fields={"a": 1, "b": "x", "c": {"d": 1, "e": 2}, "gone": None})
    after = shown(fields={"a": True, "b": "x", "c": {"e": 2, "d": 1}, "new": None})
    assert change(before, after).fields == ("a", "gone", "new")


def test_attachments_that_came_and_went_are_told_by_digest() -> None:
    told = change(shown(attachments=("1", "2")), shown(attachments=("2", "3")))
    assert (told.attachments_added, told.attachments_removed) == (("3",), ("1",))


def test_the_old_text_comes_along_only_if_it_changed() -> None:
    assert change(shown("one"), shown("two")).text_before == "one"
    assert change(shown("one"), shown(None)).text_before == "one"
    assert change(shown(None), shown("two")).text_before is None
    assert change(shown(None), shown("two")).text
    assert (
        change(shown("one"), shown("one", labels=(label("hate", "0", Band.ALLOW),))).text_before
        is None
    )


def test_of_a_hash_that_was_never_shown_nothing_is_compared() -> None:
    told = change(None, shown(revision=3))
    assert (told.known, told.before_revision, told.after_revision) == (False, None, 3)
    assert not told.text
    assert told.text_before is None


def test_the_answer_stays_bounded_whatever_the_texts_hold() -> None:
    plain = change(shown("a" * MEBIBYTE), shown("b"))
    assert plain.text_before is not None
    assert len(msgspec.json.encode(plain)) < LONGEST_ANSWER
    controls = change(shown("\x01" * MEBIBYTE), shown("b"))
    assert controls.text_before is None
    assert controls.text
    many = change(shown(fields={}), shown(fields={f"f{n}": n for n in range(900)} | {"x" * 500: 1}))
    assert len(many.fields) == MOST_FIELDS
    assert many.fields_unnamed == 901 - MOST_FIELDS

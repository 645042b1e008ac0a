"""What is said of a change in the evidence, and what it may cost."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import msgspec
import pytest

from shared.evidence import Evidence, ShownContent
from shared.vocabulary import Band
from shared.wire.evidence import EvidenceChange, LabelChange, TextChange
from tests.tui import samples
from tui.difference import Difference, FactChange, difference, told_difference


def with_text(text: str | None, **changes: object) -> Evidence:
    return samples.evidence(text, **changes)  # type: ignore[arg-type]  # plain words of a sample


def test_only_labels_that_changed_are_named_and_a_crossed_band_is_marked() -> None:
    new = samples.evidence(scores={**samples.SCORES, "violence": "0.97", "hate": "0.65"})
    assert difference(samples.evidence(), new).labels == (
        LabelChange(
            category="violence", before="0.81", after="0.97", band_before=Band.REVIEW,
            band_after=Band.BLOCK, crossed=True,
        ),
        LabelChange(
            category="hate", before="0.64", after="0.65", band_before=Band.REVIEW,
            band_after=Band.REVIEW, crossed=False,
        ),
    )  # fmt: skip


def test_a_label_that_came_or_went_is_named_with_nothing_on_one_side() -> None:
    old, new = samples.evidence(scores={"spam": "0.5"}), samples.evidence(scores={"hate": "0.5"})
    sides = {label.category: (label.before, label.after) for label in difference(old, new).labels}
    assert sides == {"hate": (None, "0.5"), "spam": ("0.5", None)}


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ("one two three", "one 2 three", [("two", "2")]),
        ("same", "same", []),
        ("a b", "a b c", [("", " c")]),
        ("a b c", "b c", [("a ", "")]),
        ("", "all new", [("", "all new")]),
        ("no spaces\nhere", "no spaces\n\nhere", [("\n", "\n\n")]),
        (None, None, []),
    ],
)
def test_text_is_compared_word_by_word(
    old: str | None, new: str | None, places: list[tuple[str, str]]
) -> None:
    found = difference(with_text(old), with_text(new)).places
    assert [(place.removed, place.added) for place in found] == places


def test_each_place_stands_among_its_neighbours() -> None:
    words = [f"word{number}" for number in range(200)]
    changed = [*words]
    changed[20], changed[150] = "here", "there"
    found = difference(with_text(" ".join(words)), with_text(" ".join(changed))).places
    assert [(place.removed, place.added) for place in found] == [
        ("word20", "here"), ("word150", "there"),
    ]  # fmt: skip
    assert found[0].lead.endswith("word19 ")
    assert found[0].tail.startswith(" word21")


def test_what_was_not_named_is_the_same_in_both_texts() -> None:
    dice = random.Random(3)
    for _ in range(500):
        old = "".join(dice.choice("ab c\n") for _ in range(dice.randrange(40)))
        new = "".join(dice.choice("ab c\n") for _ in range(dice.randrange(40)))
        places = difference(with_text(old), with_text(new)).places
        assert all(place.removed in old and place.added in new for place in places)
        removed = sum(len(place.removed) for place in places)
        added = sum(len(place.added) for place in places)
        assert len(old) - removed == len(new) - added
        assert bool(places) == (old != new)


@pytest.mark.parametrize(
    "texts",
    [
        ("a " * 500_000, "a " * 499_999 + "b "),
        ("a " * 250_000, "b " * 250_000),
        ("x" * 1_000_000, "y" * 1_000_000),
        ("\u0301" * 500_000, "\u0302" * 500_000),
        (" ".join(map(str, range(150_000))), " ".join(map(str, range(150_000, 0, -1)))),
    ],
    ids=["one at the end", "all", "one word", "marks", "turned round"],
)
def test_a_megabyte_is_compared_within_two_seconds(texts: tuple[str, str]) -> None:
    began = time.process_time()
    found = difference(with_text(texts[0]), with_text(texts[1]))
    assert time.process_time() - began < 2
    assert found.places


def test_facts_rules_attachments_and_the_rest_are_named() -> None:
    old = samples.kyc()
    fields = {**samples.KYC, "amount_cents": 99, "new": True}
    new = msgspec.structs.replace(
        old,
        content=msgspec.structs.replace(old.content, fields=fields, lang="pt"),
        attachments=("b" * 64,),
        model_version="m-2",
    )
    found = difference(msgspec.structs.replace(old, attachments=("a" * 64,)), new)
    assert {(fact.name, fact.before, fact.after) for fact in found.facts} == {
        ("amount_cents", "125000", "99"), ("new", None, "yes"),
    }  # fmt: skip
    assert found.attachments_added == ("b" * 64,)
    assert found.attachments_removed == ("a" * 64,)
    assert found.other == ("model version", "lang")
    hits = (samples.hit(samples.POST, "cans and a lighter"),)
    assert difference(samples.evidence(), samples.evidence(hits=hits)).rules == (0, 1)


def test_the_same_evidence_differs_in_nothing() -> None:
    assert difference(samples.evidence(), samples.evidence()) == Difference()
    assert replace(Difference()) == Difference()


def test_what_the_server_says_stands_in_for_an_old_evidence_that_is_not_at_hand() -> None:
    change = EvidenceChange(
        known=True, before_hash="a" * 64, after_hash="b" * 64, before_revision=1, after_revision=2,
        text_before="one two three",
        text=(TextChange(before_start=4, before_end=7, after_start=4, after_end=5),),
        attachments_added=("c" * 64,), fields=("amount",),
    )  # fmt: skip
    found = told_difference(change, with_text("one 2 three"))
    assert [(p.lead, p.removed, p.added, p.tail) for p in found.places] == [
        ("one ", "two", "2", " three")
    ]
    assert found.attachments_added == ("c" * 64,)
    assert [fact.name for fact in found.facts] == ["amount"]
    assert told_difference(change, None).places == ()
    unknown = msgspec.structs.replace(change, known=False)
    assert told_difference(unknown, None).other == ("what you saw is not known to the server",)


def test_a_place_beyond_the_text_is_no_error() -> None:
    change = EvidenceChange(
        known=True, before_hash="a" * 64, after_hash="b" * 64, before_revision=1, after_revision=2,
        text_before="x", text=(TextChange(before_start=9, before_end=99, after_start=9,
                                          after_end=99),),
    )  # fmt: skip
    content = ShownContent(content_id="c", kind="post", text="y")
    new = msgspec.structs.replace(samples.evidence(), content=content)
    assert told_difference(change, new).places[0].removed == ""


def test_a_case_that_had_no_facts_lost_none() -> None:
    new = samples.evidence(fields={"n": 2})
    assert difference(samples.evidence(), new).facts == (FactChange("n", None, "2"),)

from __future__ import annotations

import itertools
import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from importlib.resources import files
from typing import Any

import msgspec
import pytest

from backend.cli.samples import cases, posts, split
from backend.domain.engine import decide
from backend.domain.policy import parse_policy
from backend.services.policies import shipped_policy
from shared.ids import is_content_id
from shared.vocabulary import Band
from shared.wire.content import Case, Submission

POLICY = parse_policy(shipped_policy("standard"))


def labels_of(post: Submission) -> dict[str, Decimal]:
    found = json.loads(bytes(post.labels), parse_float=Decimal, parse_int=Decimal)
    return {str(name): Decimal(score) for name, score in found.items()}


def ids_of(*some: Sequence[Submission | Case]) -> list[str]:
    return [one.content_id for part in some for one in part]


def bandings() -> Iterator[tuple[Submission, Any]]:
    for post in posts():
        yield post, decide(labels_of(post), [], POLICY)


def test_every_id_is_unique_and_every_kind_is_known_to_the_policy() -> None:
    ids = ids_of(posts(), cases())
    assert len(ids) == len(set(ids)) >= 300
    assert all(map(is_content_id, ids))
    assert {case.kind for case in cases()} == {"kyc", "payout", "llm_answer"}


def test_every_band_occurs_and_several_categories_decide() -> None:
    found = [banding for _, banding in bandings()]
    bands = Counter(banding.band for banding in found)
    assert set(bands) == set(Band)
    assert bands[Band.REVIEW] > 100
    assert {banding.deciding for banding in found if banding.band is Band.REVIEW} == set(
        POLICY.categories
    )


def test_scores_stand_on_and_beside_both_limits() -> None:
    scores = {score for post in posts() for score in labels_of(post).values()}
    assert {Decimal(text) for text in ("0.2", "0.1999", "0.95", "0.9501")} <= scores


def test_some_scores_are_missing_with_and_without_consequence() -> None:
    partial = [post for post in posts() if len(labels_of(post)) < len(POLICY.categories)]
    bands = {decide(labels_of(post), [], POLICY).band for post in partial}
    assert {Band.HELD, Band.ALLOW, Band.BLOCK} <= bands
    assert any(not labels_of(post) for post in partial)


@pytest.mark.parametrize(
    ("what", "signs"),
    [
        ("an escape", "\x1b"),
        ("an eight-bit control", "\x9b"),
        ("a bell", "\x07"),
        ("a right-to-left override", "\u202e"),
        ("an isolate", "\u2067"),
        ("a zero-width space", "\u200b"),
        ("a tag letter", "\U000e0041"),
        ("markup that acts", "[@click="),
        ("stacked accents", "\u0301\u0302\u0303\u0304"),
    ],
    ids=lambda value: value if value.isprintable() and " " in value else "",
)
def test_some_are_hostile_to_terminals(what: str, signs: str) -> None:
    assert any(signs in (post.text or "") for post in posts()), what


def test_several_languages_occur() -> None:
    assert len({post.lang for post in posts()}) >= 8


def test_the_files_themselves_are_harmless_to_look_at() -> None:
    for name in ("posts", "cases"):
        text = files("backend").joinpath("samples", f"{name}.jsonl").read_text(encoding="utf-8")
        for sign in set(text) - {"\n"}:
            assert unicodedata.category(sign) not in ("Cc", "Cf", "Zl", "Zp", "Co", "Cn"), hex(
                ord(sign)
            )


def test_splitting_loses_nothing_and_spreads_the_cases() -> None:
    first, rest = split(posts("-x"), cases("-x"))
    assert sorted(ids_of(first, rest)) == sorted(ids_of(posts("-x"), cases("-x")))
    gaps = [
        len(list(run))
        for is_post, run in itertools.groupby(rest, lambda one: hasattr(one, "labels"))
        if is_post
    ]
    assert max(gaps) <= 12


def test_a_sample_survives_its_way_onto_the_wire() -> None:
    for post in posts():
        again = msgspec.json.decode(msgspec.json.encode(post), type=Submission)
        assert (again.text, again.content_id) == (post.text, post.content_id)
        assert json.loads(bytes(again.labels)) == json.loads(bytes(post.labels))

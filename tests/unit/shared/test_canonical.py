"""Canonical bytes are RFC 8785's, and refuse what has none."""

from __future__ import annotations

import json
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from shared.canonical import canonical_bytes
from shared.vocabulary import Band

texts = st.text(max_size=12)
trees = st.recursive(
    st.none() | st.booleans() | texts | st.integers(-(2**53) + 1, 2**53 - 1),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(texts, inner, max_size=5)
    ),
    max_leaves=25,
)


@given(trees)
def test_the_bytes_are_those_of_an_independent_writer(tree: Any) -> None:
    assert canonical_bytes(tree) == rfc8785.dumps(tree)


@given(trees)
def test_the_bytes_say_what_was_given_and_are_their_own_canonical_form(tree: Any) -> None:
    data = canonical_bytes(tree)
    assert canonical_bytes(json.loads(data)) == data


@given(st.dictionaries(texts, st.integers(0, 9), max_size=8), st.randoms())
def test_the_order_of_members_changes_nothing(members: dict[str, int], chance: Any) -> None:
    names = list(members)
    chance.shuffle(names)
    assert canonical_bytes({name: members[name] for name in names}) == canonical_bytes(members)


def test_every_character_is_written_as_the_rfc_writes_it() -> None:
    planes = [range(0xD800), range(0xE000, 0x20000), range(0x10FF00, 0x110000)]
    text = "".join(chr(code) for plane in planes for code in plane)
    assert canonical_bytes(text) == rfc8785.dumps(text)
    assert canonical_bytes({text[:300]: text}) == rfc8785.dumps({text[:300]: text})


def test_members_are_ordered_by_utf_16_units_and_not_by_code_point() -> None:
    # U+1F600 is D83D DE00 in UTF-16, so it comes before U+FB33.
    assert canonical_bytes({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'.encode()
    assert canonical_bytes({"b": 1, "a": {"\ufb33": 1, "\U0001f600": 2}}).startswith(b'{"a":')


def test_the_example_of_the_rfc_sorts_as_it_says() -> None:
    members = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    ordered = list(json.loads(canonical_bytes(members)))
    assert ordered == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_words_of_closed_lists_are_plain_strings() -> None:
    class Level(IntEnum):
        ONE = 1

    class Text(str):
        __slots__ = ()

    assert canonical_bytes([Band.REVIEW, Level.ONE, Text("x")]) == b'["REVIEW",1,"x"]'
    assert canonical_bytes({Band.REVIEW: True}) == b'{"REVIEW":true}'


@pytest.mark.parametrize(
    "value",
    [
        0.5,
        1.0,
        float("nan"),
        float("inf"),
        2**53,
        -(2**53),
        10**400,
        Decimal("0.5"),
        b"bytes",
        {1, 2},
        object(),
        "\ud800",
        "\udfff" * 3,
        {"\ud800": 1},
        {1: 2},
        {None: 2},
    ],
)
@pytest.mark.parametrize(
    "wrap",
    [lambda v: v, lambda v: {"a": [1, v]}, lambda v: ({"é": v},)],
    ids=["alone", "inside", "beside a key that sorts with care"],
)
def test_what_has_no_exact_form_is_refused_anywhere(value: object, wrap: Any) -> None:
    with pytest.raises(ValueError, match=r"\$"):
        canonical_bytes(wrap(value))


def test_a_refusal_points_at_the_place_and_repeats_nothing_of_it() -> None:
    class Word(StrEnum):
        CANARY = "canary"

    with pytest.raises(ValueError, match=r"^\$\{0\}\[2\]: float") as caught:
        canonical_bytes({Word.CANARY: ["canary", "canary", 0.5]})
    assert "canary" not in str(caught.value)

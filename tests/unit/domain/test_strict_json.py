"""A case's own fields: every later reader sees the same, or they are refused by path."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.refusals import DuplicateKey, InvalidField, Refusal
from backend.domain.strict_json import MAX_BYTES, read_fields
from shared.canonical import canonical_bytes

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
trees = st.recursive(
    st.none() | st.booleans() | texts | st.integers(-(2**53) + 1, 2**53 - 1),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(texts, trees, max_size=5), st.booleans())
def test_what_is_sent_is_what_is_read(fields: dict[str, Any], escaped: bool) -> None:
    raw = json.dumps(fields, ensure_ascii=escaped).encode()
    assert read_fields(raw) == fields
    assert canonical_bytes(read_fields(raw))


def nested(levels: int, inner: str = "1") -> bytes:
    """Fields of `levels` levels in all."""
    return ('{"a":' + "[" * (levels - 1) + inner + "]" * (levels - 1) + "}").encode()


def test_sixty_four_levels_are_read_and_one_more_is_not() -> None:
    assert read_fields(nested(64))
    with pytest.raises(InvalidField, match="64 levels") as caught:
        read_fields(nested(65))
    assert caught.value.field == "fields"


@pytest.mark.parametrize("levels", [1_000, 5_000, 200_000])
def test_nesting_without_end_is_refused_without_falling_over(levels: int) -> None:
    for raw in (nested(levels), b'{"a":' * levels + b"1" + b"}" * levels):
        with pytest.raises(InvalidField):
            read_fields(raw)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("end", [b"", b"\\", b'"'], ids=["none", "in an escape", "a quote"])
def test_a_text_without_end_is_refused_in_linear_time(end: bytes) -> None:
    with pytest.raises(InvalidField, match="JSON"):
        read_fields(b"{" + b"[" * 63 + b"]" * 63 + b"[]" * 9 + b'"' + b'\\"' * 500_000 + end)


def test_brackets_in_a_text_are_no_levels() -> None:
    text = '[{"' * 500
    assert read_fields(json.dumps({"a": text}).encode()) == {"a": text}


def test_a_thousand_keys_in_all_are_read_and_one_more_is_not() -> None:
    fields = {f"k{n}": {"inner": n} for n in range(500)}
    assert read_fields(json.dumps(fields).encode()) == fields
    with pytest.raises(InvalidField, match="1000 keys") as caught:
        read_fields(json.dumps({**fields, "one_more": 1}).encode())
    assert caught.value.field == "fields"


def test_a_list_of_many_values_is_refused() -> None:
    assert read_fields(json.dumps({"a": [0] * 9_999}).encode())
    with pytest.raises(InvalidField, match="10000 values"):
        read_fields(json.dumps({"a": [0] * 10_000}).encode())


def test_a_megabyte_of_fields_is_read_and_a_byte_more_is_not() -> None:
    def sized(size: int) -> bytes:
        return b'{"a":"' + b"x" * (size - 8) + b'"}'

    assert read_fields(sized(MAX_BYTES))
    with pytest.raises(InvalidField, match="bytes"):
        read_fields(sized(MAX_BYTES + 1))


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b'{"a":1,"a":2}', "fields.a"),
        (b'{"a":1,"\\u0061":1}', "fields.a"),
        (b'{"x":[{"a":{"b":1,"b":1}}]}', "fields.x[0].a.b"),
        (b'{"Upper":1,"Upper":1}', "fields[1]"),
    ],
)
def test_a_key_that_stands_twice_is_refused(raw: bytes, field: str) -> None:
    with pytest.raises(DuplicateKey) as caught:
        read_fields(raw)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("raw", "field", "why"),
    [
        (b'{"a":0.5}', "fields.a", "send it as a string"),
        (b'{"a":1.0}', "fields.a", "send it as a string"),
        (b'{"a":1e3}', "fields.a", "send it as a string"),
        (b'{"a":-0.0}', "fields.a", "send it as a string"),
        (b'{"a":NaN}', "fields.a", "send it as a string"),
        (b'{"a":[1,{"b":-Infinity}]}', "fields.a[1].b", "send it as a string"),
        (b'{"a":9007199254740992}', "fields.a", "send it as a string"),
        (b'{"a":-9007199254740992}', "fields.a", "send it as a string"),
        (b'{"a":' + b"9" * 10_000 + b"}", "fields.a", "send it as a string"),
        (b'{"a":1e999999999}', "fields.a", "send it as a string"),
        (b'{"a":"\\u0000"}', "fields.a", "NUL"),
        (b'{"a":["x","y\\u0000"]}', "fields.a[1]", "NUL"),
        (b'{"a":"\\ud800"}', "fields.a", "surrogate"),
        (b'{"a":"\\udc00\\ud800"}', "fields.a", "surrogate"),
        (b'{"\\ud800":1}', "fields[0]", "surrogate"),
        (b'{"\\u0000":1}', "fields[0]", "NUL"),
        (b'{"a":"\xff"}', "fields", "UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', "fields", "UTF-8"),
        (b'{"a":"\xc0\xaf"}', "fields", "UTF-8"),
        (b'\xef\xbb\xbf{"a":1}', "fields", "JSON"),
        (b'{"a":1', "fields", "JSON"),
        (b'{"a":1}}', "fields", "JSON"),
        (b"", "fields", "JSON"),
        (b"null", "fields", "object"),
        (b"[]", "fields", "object"),
        (b'"text"', "fields", "object"),
        (b"7", "fields", "object"),
    ],
)
def test_what_readers_could_differ_on_is_refused(raw: bytes, field: str, why: str) -> None:
    with pytest.raises(InvalidField) as caught:
        read_fields(raw)
    assert (caught.value.field, why in caught.value.detail) == (field, True)


def test_the_largest_whole_numbers_are_read() -> None:
    raw = b'{"a":9007199254740991,"b":-9007199254740991,"c":-0}'
    assert read_fields(raw) == {"a": 2**53 - 1, "b": -(2**53) + 1, "c": 0}


@given(st.binary(max_size=80))
def test_any_bytes_are_fields_or_a_refusal(raw: bytes) -> None:
    try:
        read_fields(b"{" + raw + b"}")
    except Refusal as refusal:
        assert refusal.field.startswith("fields")  # noqa: PT017 - reading it is right as well

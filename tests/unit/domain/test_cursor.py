"""Cursors: what they say comes back, and nothing else is taken for one."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.cursor import moment, place, read_cursor, write_cursor

KEYS = (
    st.none()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.datetimes(datetime(1970, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
)


@given(st.sampled_from(["waiting:posts", "held:a", "leases:7"]), KEYS, st.integers(0, 2**63 - 1))
def test_a_place_comes_back_from_its_cursor(
    name: str, key: float | datetime | None, row_id: int
) -> None:
    cursor = write_cursor(place(name, key, row_id))
    assert cursor.replace("-", "").replace("_", "").isalnum()
    found = read_cursor(cursor, name)
    assert (found.list, found.id) == (name, row_id)
    if isinstance(key, datetime):
        assert found.at is not None
        assert moment(found.at) == key
    else:
        assert found.rank == key


def coded(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "\x00",
        "ü",
        "=" * 8,
        "A" * 513,
        coded('["held:posts",1]'),
        coded('["waiting:posts"]'),
        coded('["waiting:posts",-1]'),
        coded(f'["waiting:posts",{2**63}]'),
        coded('["waiting:posts","1"]'),
        coded('["waiting:posts",1,1e999]'),
        coded('["waiting:posts",1,null,99999999999999999999]'),
        coded(f'["waiting:posts",1,null,{2**63 - 1}]'),
        coded('["waiting:posts",1,null,null,5]'),
        coded('{"list":"waiting:posts","id":1}'),
        coded("[" * 200),
    ],
)
def test_nothing_else_is_taken_for_a_cursor(cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        read_cursor(cursor, "waiting:posts")


@given(st.text(max_size=60))
def test_no_text_breaks_the_reading_of_cursors(text: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        read_cursor(text, "waiting:posts")

from __future__ import annotations

import io
import json

import pytest

from backend.cli import rows
from backend.cli.rows import LARGEST_ROW, check_row, read_batches


def lines_of(text: bytes, size: int = 500, drop: tuple[str, ...] = ()) -> list[rows.Row]:
    return [row for batch in read_batches(io.BytesIO(text), size, drop) for row in batch.rows]


def test_each_row_keeps_the_number_of_its_line() -> None:
    found = lines_of(b'{"a":1}\n\n  \n{"a":2}\r\n{"a":3}')
    assert [(row.line, row.data) for row in found] == [
        (1, b'{"a":1}'),
        (4, b'{"a":2}'),
        (5, b'{"a":3}'),
    ]


def test_a_byte_order_mark_before_the_first_row_is_no_part_of_it() -> None:
    assert lines_of(b'\xef\xbb\xbf{"a":1}\n')[0].problem is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"[1]", "not a JSON object"),
        (b'"x"', "not a JSON object"),
        (b"{", "not JSON"),
        (b'{"a":1} {"b":2}', "not JSON"),
        (b'{"a":"\xff"}', "not valid UTF-8 at byte 7"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "not JSON"),
        (b'{"a":"' + b"x" * LARGEST_ROW + b'"}', "larger than 2 MiB"),
    ],
)
def test_a_row_that_cannot_be_sent_says_why(text: bytes, why: str) -> None:
    (row,) = lines_of(text)
    assert why in (row.problem or "")


def test_a_bad_row_leaves_its_neighbours_alone() -> None:
    found = lines_of(b'{"a":1}\nnot json\n{"a":2}\n')
    assert [row.problem is None for row in found] == [True, False, True]
    assert found[1].line == 2


def test_dropping_a_field_leaves_the_others_to_the_last_digit() -> None:
    labels = '{"hate":0.10,"hate":0.2000000000000000001}'
    text = f'{{"labels": {labels}, "human": {{"x": [1]}}, "t": "é\\u00e9"}}'
    row = check_row(1, text.encode(), {"human"})
    assert labels.encode() in row.data
    assert json.loads(row.data)["t"] == "éé"
    assert b"human" not in row.data


def test_batches_say_how_far_the_file_was_read() -> None:
    text = b'{"a":1}\n{"a":2}\n\n{"a":3}\n'
    first, second = read_batches(io.BytesIO(text), 2)
    assert (first.end, first.lines) == (16, 2)
    assert (second.end, second.lines) == (len(text), 4)
    assert text[: first.end].endswith(first.tail)


def test_a_batch_also_ends_when_it_is_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_BATCH_BYTES", 20)
    batches = list(read_batches(io.BytesIO(b'{"a":"0123456789"}\n' * 4), 500))
    assert [len(batch.rows) for batch in batches] == [2, 2]

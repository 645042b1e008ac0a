"""JSON Lines as they come from a file: each row with its line number, checked one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import BinaryIO, NamedTuple

import msgspec

LARGEST_ROW = 2 * 1024 * 1024
"""Bytes of one submission, as the server has it."""
_BATCH_BYTES = 24 * 1024 * 1024  # well under the server's limit for one request
_BOM = b"\xef\xbb\xbf"
_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Row(NamedTuple):
    """One line: the JSON object to send, or (`problem` set) why it can't be sent."""

    line: int
    data: bytes
    problem: str | None = None


class Batch(NamedTuple):
    """Rows to send together.

    `end` and `lines` say how far the file is read with them, `tail` how its last line ends.
    """

    rows: tuple[Row, ...]
    end: int
    lines: int
    tail: bytes


def read_batches(
    source: BinaryIO, size: int, drop: Collection[str] = (), *, offset: int = 0, lines: int = 0
) -> Iterator[Batch]:
    """Yield the rows of `source` from where it stands, up to `size` at a time.

    `offset` and `lines` are what was read before. Empty lines are passed over. `drop` names the
    top-level fields to leave out.
    """
    rows: list[Row] = []
    held, raw = 0, b""
    for raw in _lines(source):
        text = raw.removeprefix(_BOM).strip() if lines == 0 else raw.strip()
        offset += len(raw)
        lines += 1
        if text:
            rows.append(check_row(lines, text, drop))
            held += len(text)
        if len(rows) >= size or held >= _BATCH_BYTES:
            yield Batch(tuple(rows), offset, lines, raw[-256:])
            rows, held = [], 0
    if rows:
        yield Batch(tuple(rows), offset, lines, raw[-256:])


def check_row(line: int, text: bytes, drop: Collection[str]) -> Row:
    """Return the row to send, its values as they were written, without the fields in `drop`."""
    if len(text) > LARGEST_ROW:
        return Row(line, b"", f"larger than {LARGEST_ROW // 1024 // 1024} MiB")
    try:
        text.decode()
        fields = _decoder.decode(text)
    except UnicodeDecodeError as error:
        return Row(line, b"", f"not valid UTF-8 at byte {error.start + 1}")
    except msgspec.ValidationError:
        return Row(line, b"", "not a JSON object")
    except (msgspec.DecodeError, RecursionError) as error:
        return Row(line, b"", f"not JSON: {error}")
    if not drop:
        return Row(line, text)
    kept = {name: value for name, value in fields.items() if name not in drop}
    return Row(line, msgspec.json.encode(kept))


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """Read line by line; a line without end is cut, so that it can't fill the memory."""
    while piece := source.readline(LARGEST_ROW * 2):
        yield piece

"""Strings and bytes that break things elsewhere: our own few, and a collection if it is at hand."""

from __future__ import annotations

import base64
import json
from pathlib import Path

COLLECTION = Path(__file__).resolve().parents[3] / "shared" / "data"
"""A folder beside the repository; the tests below do not need it."""

OWN_STRINGS = (
    "",
    " ",
    "\x00",
    "a\x00b",
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]52;c;aGVsbG8=\x07",
    "\x1bP$q\x1b\\",
    "\x9b2J",
    "\r\nX-Injected: 1",
    "\u202egnp.exe",
    "\u2066\u2067\u2068\u2069",
    "z\u0335a\u0336l\u0337go" * 20,
    "\u200b\u200c\u200d\ufeff",
    "\U000e0041\U000e0042",
    "\u2028\u2029",
    "\ufffe\uffff",
    "\U0010ffff",
    "e\u0301",
    "\u1100\u1161\u11a8",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "'; DROP TABLE content; --",
    "' OR 1=1 --",
    "$1 :content_ids %s {0} %(x)s",
    "[@click=app.quit]x[/]",
    "[/",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "a" * 5000,
    "NaN",
    "null",
    "true",
    "-1",
    "1e400",
    "9" * 400,
    '"',
    "\\",
    '{"a":1,"a":2}',
    "\t",
    "\x7f",
    "\x85",
    "%00",
    "\\u0000",
    "\\ud800",
)

OWN_BYTES = (
    b"\xff\xfe",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"ok\x80ok",
    b"\xf4\x90\x80\x80",
    b"trunc\xe2\x82",
    b"\x00",
    b"\x1b[2J",
    b"\xef\xbb\xbf",
)


def strings() -> list[str]:
    """Return every hostile string that is at hand."""
    path = COLLECTION / "hostile_strings.jsonl"
    shared = _rows(path) if path.exists() else []
    return [*OWN_STRINGS, *(row["text"] for row in shared)]


def byte_strings() -> list[bytes]:
    """Return every hostile byte string that is at hand."""
    path = COLLECTION / "hostile_bytes.jsonl"
    shared = _rows(path) if path.exists() else []
    return [*OWN_BYTES, *(base64.b64decode(row["base64"]) for row in shared)]


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

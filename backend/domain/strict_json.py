"""A case's own `fields`, read from raw JSON so strictly that every later reader sees the same.

Refused are: a key that stands twice, fractional numbers and whole ones beyond +-(2**53 - 1) ("send
it as a string"), NUL, lone surrogates, more than 64 levels, 1,000 keys or 10,000 values in all.
A fault is named by its path; a key that is no plain name is pointed at by its place instead.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, loads
from typing import Any

from backend.domain.refusals import DuplicateKey, InvalidField
from backend.domain.scores import is_name

MAX_DEPTH = 64
MAX_KEYS = 1_000
MAX_VALUES = 10_000
MAX_BYTES = 2**20
_EXACT_DIGITS = 16
_EXACT = 2**53 - 1
# Whole strings, closed or not, in one go, so that no input makes the scan more than linear.
_TOKENS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|([\[{])|([\]}])', re.DOTALL)


class _Pairs(list[tuple[str, Any]]):
    """The members of an object, repetitions included."""


class _Unfit(str):
    """A number that has no exact form here."""

    __slots__ = ()


def read_fields(raw: bytes, root: str = "fields") -> dict[str, Any]:
    """Return the object in `raw` as dicts, lists, strings, whole numbers, booleans and nulls.

    Raises InvalidField or DuplicateKey naming the path below `root`.
    """
    if raw == b"{}":
        return {}
    if len(raw) > MAX_BYTES:
        raise InvalidField(f"at most {MAX_BYTES} bytes of JSON", field=root)
    if _depth(raw) > MAX_DEPTH:
        raise InvalidField(f"at most {MAX_DEPTH} levels deep", field=root)
    pairs = _parse(raw, root)
    if not isinstance(pairs, _Pairs):
        raise InvalidField("an object is needed", field=root)
    return _Builder().object(pairs, root)


def _depth(raw: bytes) -> int:
    """Return how deep `raw` nests, without parsing it: a parser would fall over first."""
    if raw.count(b"{") + raw.count(b"[") <= MAX_DEPTH:
        return 0
    deepest = level = 0
    for token in _TOKENS.finditer(raw):
        if token[1] is not None:
            level += 1
            deepest = max(deepest, level)
        elif token[2] is not None:
            level -= 1
    return deepest


def _parse(raw: bytes, root: str) -> Any:
    try:
        return loads(
            raw.decode(),
            object_pairs_hook=_Pairs,
            parse_int=_whole,
            parse_float=_Unfit,
            parse_constant=_Unfit,
        )
    except UnicodeDecodeError:
        raise InvalidField("not valid UTF-8", field=root) from None
    except (JSONDecodeError, RecursionError):
        raise InvalidField("not well-formed JSON", field=root) from None


def _whole(digits: str) -> int | _Unfit:
    if len(digits.lstrip("-")) > _EXACT_DIGITS:
        return _Unfit(digits)
    number = int(digits)
    return number if abs(number) <= _EXACT else _Unfit(digits)


class _Builder:
    """Turns pairs into dicts and counts on the way."""

    def __init__(self) -> None:
        self.keys = 0
        self.values = 0

    def object(self, pairs: _Pairs, path: str) -> dict[str, Any]:
        """Return one object, its keys checked."""
        self.keys += len(pairs)
        if self.keys > MAX_KEYS:
            raise InvalidField(f"at most {MAX_KEYS} keys in all", field=path.partition(".")[0])
        members: dict[str, Any] = {}
        for place, (key, value) in enumerate(pairs):
            where = f"{path}.{key}" if is_name(key) else f"{path}[{place}]"
            _check_text(key, where, "a key")
            if key in members:
                raise DuplicateKey("each key may stand once", field=where)
            members[key] = self.value(value, where)
        return members

    def value(self, value: Any, path: str) -> Any:
        """Return one value, checked."""
        self.values += 1
        if self.values > MAX_VALUES:
            raise InvalidField(f"at most {MAX_VALUES} values in all", field=_root(path))
        if isinstance(value, _Pairs):
            return self.object(value, path)
        if isinstance(value, list):
            return [self.value(member, f"{path}[{n}]") for n, member in enumerate(value)]
        if isinstance(value, _Unfit):
            raise InvalidField("whole numbers up to 2**53 - 1; send it as a string", field=path)
        if isinstance(value, str):
            _check_text(value, path, "a text")
        return value


def _root(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _check_text(text: str, path: str, what: str) -> None:
    fault = text_fault(text)
    if fault is not None:
        raise InvalidField(f"{what} {fault}", field=path)


def text_fault(text: str) -> str | None:
    """Return what keeps `text` from being stored and shown anywhere, or None."""
    if "\0" in text:
        return "must not hold NUL"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "must be valid Unicode (it holds a lone surrogate)"
    return None

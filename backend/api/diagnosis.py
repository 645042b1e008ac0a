"""Why a body could not be decoded, looked into only once it could not: slow and exact.

Strict JSON has no NaN, no raw control characters and no lone surrogates, and a strict reader stops
at the first of them without saying where. Read again, leniently, the field at fault can be named.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec

from backend.domain.decoding import refusal_of
from backend.domain.refusals import DuplicateKey, InvalidField, Refusal, TooLarge
from backend.domain.scores import is_name

_DEEPEST = 100
_SPACE = " \t\n\r"


class _Pairs(list[tuple[str, Any]]):
    """The members of an object, repetitions included."""


class _NoNumber:
    """NaN or an infinity."""


def diagnose(data: bytes, fault: Exception, shape: type[msgspec.Struct] | None = None) -> Refusal:
    """Return the refusal for a body, a `shape`, whose decoding raised `fault`.

    InvalidField naming the field if the fault lies in one value, else what `refusal_of` says.
    """
    told = refusal_of(fault, shape)
    if isinstance(told, InvalidField):
        return told
    members = _read_leniently(data)
    if isinstance(members, _Pairs):
        for key, value in members:
            found = _fault(value, key if is_name(key) else "", 0)
            if found is not None:
                return found
    return told


def repeated_member(data: bytes, names: tuple[bytes, ...]) -> DuplicateKey | None:
    """Return the refusal if the object in `data` names one of its own members twice.

    `names` are the members that there can be, each in quotes. None of them twice, and no escape
    that could spell one differently: then none is repeated, and nothing needs to be read.
    """
    if not any(data.count(name) > 1 for name in names) and b"\\u00" not in data:
        return None
    members = _read_leniently(data)
    if not isinstance(members, _Pairs):
        return None
    for key, count in Counter(key for key, _ in members).items():
        if count > 1:
            field = key if is_name(key) else ""
            return DuplicateKey("each field may stand once", field=field)
    return None


def rows_of(data: bytes, *, most: int, largest: int) -> list[bytes] | None:
    """Split a JSON array that a strict reader refuses into its members, or return None.

    One bad row then fails alone. Reading ends after one member more than `most`.
    Raises TooLarge for a member that does not end within `largest` characters.
    """
    text = data.decode("utf-8", "surrogateescape")
    place = _skip(text, 0)
    if text[place : place + 1] != "[":
        return None
    decoder, rows, mark = _lenient(), list[bytes](), ","
    while mark == "," and len(rows) <= most:
        place = _skip(text, place + 1)
        piece = text[place : place + largest + 1]
        try:
            _, length = decoder.raw_decode(piece)
        except (ValueError, RecursionError):
            if len(piece) > largest:
                raise TooLarge("one row of the batch is too large") from None
            return None
        rows.append(piece[:length].encode("utf-8", "surrogateescape"))
        place = _skip(text, place + length)
        mark = text[place : place + 1]
    if len(rows) > most:
        return rows
    return rows if mark == "]" and not text[place + 1 :].strip(_SPACE) else None


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place


def _lenient() -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_Pairs,
        parse_constant=lambda _: _NoNumber(),
        parse_int=lambda _: 0,
        parse_float=lambda _: 0,
        strict=False,
    )


def _read_leniently(data: bytes) -> Any:
    try:
        return _lenient().decode(data.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None


def _fault(value: Any, path: str, depth: int) -> InvalidField | None:
    """Return what keeps `value` from being strict JSON, named by its path."""
    if isinstance(value, _NoNumber):
        return InvalidField("not a number that JSON has", field=path)
    if isinstance(value, str):
        return _text_fault(value, path)
    if depth > _DEEPEST:
        return None
    inner = []
    if isinstance(value, _Pairs):
        inner = [(f"{path}.{key}" if is_name(key) else path, v) for key, v in value]
    elif isinstance(value, list):
        inner = [(f"{path}[{place}]", v) for place, v in enumerate(value)]
    found = (_fault(member, where, depth + 1) for where, member in inner)
    return next((fault for fault in found if fault is not None), None)


def _text_fault(text: str, path: str) -> InvalidField | None:
    if any(letter < " " for letter in text):
        return InvalidField("a control character must be escaped", field=path)
    try:
        text.encode()
    except UnicodeEncodeError:
        return InvalidField("not valid Unicode in UTF-8", field=path)
    return None

"""What a body that can't even be decoded is refused with.

msgspec's own messages repeat what was sent (an unknown member by its name, an enum by its value),
control characters included. They are taken apart here and only what is ours is passed on.
"""

from __future__ import annotations

import re

import msgspec

from backend.domain.refusals import InvalidField, Malformed, Refusal
from backend.domain.scores import is_name

_PLACE = re.compile(r" - at `\$(?P<path>[A-Za-z0-9_.\[\]]*)`\Z")
_EXPECTED = re.compile(r"Expected `[a-z0-9_| \[\],.]{1,60}`(, got `[a-z]{1,20}`)?")
_MISSING = re.compile(r"Object missing required field `(?P<name>[a-z0-9_]{1,40})`")
_SAID = {
    "Object contains unknown field": "a field that is not known here",
    "Invalid enum value": "none of the words that are known here",
    "Invalid RFC3339 encoded datetime": "a time as RFC 3339, with an offset",
    "Integer value out of range": "a whole number within its range",
    "Invalid UTF-8": "not valid UTF-8",
}


def refusal_of(fault: Exception) -> Refusal:
    """Return the refusal for `fault`, raised by msgspec while it decoded a body.

    A ValidationError names its field (`fields`, `labels`, `[3].text` in a batch); everything else,
    including nesting without end, is Malformed.
    """
    if isinstance(fault, msgspec.ValidationError):
        return _invalid(str(fault))
    if isinstance(fault, RecursionError):
        return Malformed("it nests too deeply")
    if isinstance(fault, UnicodeDecodeError) or "UTF-8" in str(fault):
        return Malformed("it is not valid UTF-8")
    return Malformed("it can't be read to its end as one JSON value")


def _invalid(message: str) -> InvalidField:
    place = _PLACE.search(message)
    path = place["path"].removeprefix(".") if place else ""
    missing = _MISSING.match(message)
    if missing:
        return InvalidField("this field is required", field=_below(path, missing["name"]))
    expected = _EXPECTED.match(message)
    if expected:
        return InvalidField(f"{expected[0].lower().replace('`', '')}", field=path)
    for said, meant in _SAID.items():
        if message.startswith(said):
            return InvalidField(meant, field=_below(path, _unknown_name(message)))
    return InvalidField("not acceptable here", field=path)


def _unknown_name(message: str) -> str:
    """Return the name of an unknown field if it is a plain name, which says nothing of anybody."""
    found = re.match(r"Object contains unknown field `([^`]*)`", message)
    return found[1] if found and is_name(found[1]) else ""


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name

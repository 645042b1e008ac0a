"""What a body that can't even be decoded is refused with.

msgspec's own messages repeat what was sent (an unknown member by its name, an enum by its value),
control characters included. They are taken apart here and only what is ours is passed on.
"""

from __future__ import annotations

import re

import msgspec
from msgspec import inspect, structs

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


def refusal_of(fault: Exception, shape: type[msgspec.Struct] | None = None) -> Refusal:
    """Return the refusal for `fault`, raised by msgspec while it decoded a body (a `shape`).

    A ValidationError names its field (`fields`, `labels`, `[3].text` in a batch); everything else,
    including nesting without end, is Malformed.
    """
    if isinstance(fault, msgspec.ValidationError):
        return _invalid(str(fault), shape)
    if isinstance(fault, RecursionError):
        return Malformed("it nests too deeply")
    if isinstance(fault, UnicodeDecodeError) or "UTF-8" in str(fault):
        return Malformed("it is not valid UTF-8")
    return Malformed("it can't be read to its end as one JSON value")


def _invalid(message: str, shape: type[msgspec.Struct] | None) -> InvalidField:
    place = _PLACE.search(message)
    path = place["path"].removeprefix(".") if place else ""
    missing = _MISSING.match(message)
    if missing:
        name = _below(path, missing["name"])
        taken = _taken(shape, name)
        required = "this field is required"
        return InvalidField(f"{required}: {taken}" if taken else required, field=name)
    taken = _taken(shape, path)
    if taken:
        return InvalidField(taken, field=path)
    expected = _EXPECTED.match(message)
    if expected:
        return InvalidField(f"{expected[0].lower().replace('`', '')}", field=path)
    for said, meant in _SAID.items():
        if message.startswith(said):
            return InvalidField(meant, field=_below(path, _unknown_name(message)))
    return InvalidField("not acceptable here", field=path)


def _taken(shape: type[msgspec.Struct] | None, name: str) -> str:
    """Return what a field takes, in words, if that is one of a few words or has a form of its own.

    Only fields of the body itself: what lies deeper is named by its place.
    """
    fields = () if shape is None else structs.fields(shape)
    return next((_described(field.type) for field in fields if field.encode_name == name), "")


def _described(wanted: object) -> str:
    found = [inspect.type_info(wanted)]
    while found:
        each = found.pop(0)
        if isinstance(each, inspect.UnionType):
            found.extend(each.types)
        elif isinstance(each, inspect.EnumType):
            return f"one of {', '.join(member.value for member in each.cls)}"
        elif isinstance(each, inspect.Metadata) and each.extra_json_schema is not None:
            return str(each.extra_json_schema.get("description", ""))
    return ""


def _unknown_name(message: str) -> str:
    """Return the name of an unknown field if it is a plain name, which says nothing of anybody."""
    found = re.match(r"Object contains unknown field `([^`]*)`", message)
    return found[1] if found and is_name(found[1]) else ""


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name

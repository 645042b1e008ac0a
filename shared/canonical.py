"""Canonical JSON bytes after RFC 8785, for values without floating-point numbers.

The one difference from the RFC is a refusal: a float has no place in what we hash, so it raises
instead of being formatted. Whole numbers stay within +-(2**53 - 1), the RFC's own number model.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

_EXACT = 2**53 - 1
_SIMPLE = frozenset({str, bool, type(None)})
_plain_encoder = msgspec.json.Encoder(order="sorted")


def canonical_bytes(value: Any) -> bytes:
    """Return the canonical bytes of a tree of dict, list, tuple, str, int, bool and None.

    Raises ValueError for a float, an integer beyond +-(2**53 - 1), a key that is no string, a lone
    surrogate, or any other type; the message points at the place without repeating what is there.
    """
    if _is_plain(value):
        try:
            return _plain_encoder.encode(value)
        except UnicodeEncodeError:
            pass  # a lone surrogate: the careful way says where
    return json.dumps(
        _ordered(value, "$"), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()


def _is_plain(value: Any) -> bool:
    """Tell whether msgspec's bytes are the RFC's: exact types and keys that sort alike.

    msgspec writes every string as the RFC does (a test compares all code points), but sorts keys by
    code point, which is the RFC's order by UTF-16 unit only as long as the keys are simple.
    """
    left = [value]
    for member in left:  # grows as it goes
        kind = type(member)
        if kind is dict:
            if not all(map(_is_simple_key, member)):
                return False
            left.extend(member.values())
        elif kind is list or kind is tuple:
            left.extend(member)
        elif kind is int:
            if not -_EXACT <= member <= _EXACT:
                return False
        elif kind not in _SIMPLE:
            return False
    return True


def _is_simple_key(key: object) -> bool:
    return type(key) is str and key.isascii()


def _ordered(value: Any, path: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, int):
        if abs(value) > _EXACT:
            raise ValueError(f"{path}: a whole number beyond 2**53 - 1; send it as a string")
        return int(value)
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: _utf16(key, path))
        return {
            _text(key, path): _ordered(value[key], f"{path}{{{place}}}")
            for place, key in enumerate(keys)
        }
    if isinstance(value, (list, tuple)):
        return [_ordered(member, f"{path}[{place}]") for place, member in enumerate(value)]
    raise ValueError(f"{path}: {type(value).__name__} has no canonical form; send it as a string")


def _text(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{path}: not valid Unicode (a lone surrogate)") from None
    return str(value)


def _utf16(key: object, path: str) -> bytes:
    """RFC 8785 orders members by their UTF-16 code units."""
    if not isinstance(key, str):
        raise ValueError(f"{path}: a member name must be a string")  # noqa: TRY004 - as documented
    return _text(key, path).encode("utf-16-be")

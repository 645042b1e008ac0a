"""Canonical JSON bytes after RFC 8785, for values without floating-point numbers.

The one difference from the RFC is a refusal: a float has no place in what we hash, so it raises
instead of being formatted. Whole numbers stay within +-(2**53 - 1), as the RFC's number model has it.
"""

from __future__ import annotations

import json
from typing import Any

_EXACT = 2**53 - 1


def canonical_bytes(value: Any) -> bytes:
    """Return the canonical bytes of a tree of dict, list, tuple, str, int, bool and None.

    Raises ValueError for a float, an integer beyond +-(2**53 - 1), a key that is no string, a lone
    surrogate, or any other type; the message names the path.
    """
    return json.dumps(
        _ordered(value, "$"), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()


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
        return {str(key): _ordered(value[key], f"{path}.{key}") for key in keys}
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
        raise ValueError(f"{path}: a member name must be a string")
    return _text(key, path).encode("utf-16-be")

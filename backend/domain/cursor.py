"""Where a page of a list ended, as one opaque word that goes into the next request.

It names the list that it belongs to, so that a cursor of another list is refused instead of leading
somewhere. It is no secret and grants nothing: whoever may not read a list may not go on in it.
"""

from __future__ import annotations

import binascii
import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta

import msgspec

_LARGEST = 2**63 - 1
_LONGEST = 512
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Place(msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """The last line of a page: which list, its key there (a rank or a time), and its id."""

    list: str
    id: int
    rank: float | None = None
    at: int | None = None
    """Microseconds since 1970."""


_places = msgspec.json.Decoder(Place)


def place(name: str, key: float | datetime | None, row_id: int) -> Place:
    """Return the place of a line; `key` is what its list is ordered by before its id."""
    if isinstance(key, datetime):
        return Place(list=name, id=row_id, at=(key - _EPOCH) // _MICROSECOND)
    return Place(list=name, id=row_id, rank=key)


def moment(at: int) -> datetime:
    """Return the time that a place holds. Raises OverflowError for one that no clock shows."""
    return _EPOCH + at * _MICROSECOND


def write_cursor(last: Place) -> str:
    """Return a place as a cursor."""
    return urlsafe_b64encode(msgspec.json.encode(last)).decode().rstrip("=")


def read_cursor(cursor: str, name: str) -> Place:
    """Return the place that a cursor of the list `name` holds. Raises ValueError for any other."""
    if len(cursor) > _LONGEST or not cursor.isascii():
        raise ValueError("no cursor of ours")
    try:
        found = _places.decode(_bytes(cursor))
    except (msgspec.MsgspecError, binascii.Error, UnicodeDecodeError) as error:
        raise ValueError("no cursor of ours") from error
    if found.list != name or not 0 <= found.id <= _LARGEST or not _is_real(found):
        raise ValueError("a cursor of another list")
    return found


def _bytes(cursor: str) -> bytes:
    padded = cursor + "=" * (-len(cursor) % 4)
    return urlsafe_b64decode(padded)


def _is_real(found: Place) -> bool:
    if found.rank is not None and not math.isfinite(found.rank):
        return False
    if found.at is None:
        return True
    try:
        moment(found.at)
    except OverflowError:
        return False
    return True

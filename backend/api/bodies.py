"""Bodies as bytes, decoded by our own decoders: size first, then syntax, then the fields' types."""

from __future__ import annotations

import asyncio
from typing import Any, Generic, TypeVar

import msgspec
from litestar import Request
from litestar.exceptions import InternalServerException

from backend.api.diagnosis import diagnose, repeated_member, rows_of
from backend.domain.decoding import refusal_of
from backend.domain.refusals import InvalidField, Malformed, Refusal, TooLarge, UnsupportedMediaType

T = TypeVar("T", bound=msgspec.Struct)

SMALL = 256 * 1024
"""The most bytes of a body where a route does not say otherwise."""
SINGLE = 2 * 1024 * 1024
BATCH = 32 * 1024 * 1024
MOST_ROWS = 1_000

JSON = "application/json"
NDJSON = "application/x-ndjson"

_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_rows = msgspec.json.Decoder(list[msgspec.Raw])


class Body(Generic[T]):
    """The body of a route: one JSON object that is a `shape`."""

    def __init__(self, shape: type[T]) -> None:
        self.shape = shape
        self._decoder = msgspec.json.Decoder(shape)
        self._names = tuple(b'"%b"' % name.encode() for name in shape.__struct_encode_fields__)

    async def read(self, request: Request[Any, Any, Any]) -> T:
        """Read and decode a body; the size limit is enforced while it arrives."""
        _media_type(request, JSON)
        return self.decode(await _whole(request))

    def decode(self, data: bytes) -> T:
        """Return `data` decoded. Raises a refusal that names the field at fault, if there is one.

        An object that names a member twice is refused: two readers could read two things.
        """
        try:
            decoded = self._decoder.decode(data)
        except _UNREADABLE as fault:
            raise diagnose(data, fault, self.shape) from None
        repeated = repeated_member(data, self._names)
        if repeated is not None:
            raise repeated
        return decoded

    async def read_rows(self, request: Request[Any, Any, Any]) -> list[T | Refusal]:
        """Read a batch, a JSON array or NDJSON: each row decoded, or what it is refused with.

        Raises a refusal for a body that can't be told apart into rows, or has too many.
        """
        media_type = _media_type(request, JSON, NDJSON)
        data = await _whole(request)
        # Large and hostile batches take seconds to look through: others are answered meanwhile.
        return await asyncio.to_thread(self._decode_rows, data, media_type)

    def _decode_rows(self, data: bytes, media_type: str) -> list[T | Refusal]:
        rows = _lines(data) if media_type == NDJSON else _members(data)
        if len(rows) > MOST_ROWS:
            raise TooLarge(f"at most {MOST_ROWS} rows in one batch")
        return [self._decode_row(bytes(row)) for row in rows]

    def _decode_row(self, data: bytes) -> T | Refusal:
        if len(data) > SINGLE:
            return TooLarge(f"at most {SINGLE // 1024 // 1024} MiB in one row")
        try:
            return self.decode(data)
        except Refusal as refusal:
            return refusal


async def read_bytes(request: Request[Any, Any, Any], *accepted: str) -> tuple[str, bytes]:
    """Return the media type of a body, which must be said, and the body as it came."""
    if not request.headers.get("content-type", "").strip():
        raise UnsupportedMediaType(f"send {' or '.join(accepted)}")
    media_type = _media_type(request, *accepted)
    return media_type, await _whole(request)


async def _whole(request: Request[Any, Any, Any]) -> bytes:
    """Return the body. A sender who goes away before its end is no fault of ours."""
    try:
        return await request.body()
    except InternalServerException:  # what the framework raises for that, and for nothing else
        raise Malformed("the body ended before its time") from None


def _media_type(request: Request[Any, Any, Any], *accepted: str) -> str:
    """Return the media type of the body; one that is not said is taken for the first."""
    for name in ("content-type", "content-encoding"):
        if len(request.headers.getall(name, [])) > 1:
            raise UnsupportedMediaType(f"say {name} once")
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise UnsupportedMediaType("send the body without a content-encoding")
    if not media_type:
        return accepted[0]
    if media_type not in accepted:
        raise UnsupportedMediaType(f"send {' or '.join(accepted)}")
    return media_type


def _members(data: bytes) -> list[msgspec.Raw] | list[bytes]:
    try:
        return _rows.decode(data)
    except _UNREADABLE as fault:
        if isinstance(fault, msgspec.ValidationError):
            raise InvalidField("an array of submissions, or NDJSON and its media type") from None
        rows = rows_of(data, most=MOST_ROWS, largest=SINGLE)
        if rows is None:
            raise refusal_of(fault) from None
        return rows


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]

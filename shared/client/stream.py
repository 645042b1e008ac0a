"""The live stream, read: it comes back by itself, and says when something may have been missed.

What it yields is never the truth, only where to look. The first event of every connection is a
`resync`, so whoever asks again for what he shows at each of them misses nothing for long.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing

import httpx
import msgspec

from shared.client.errors import ClientError, Garbled
from shared.client.retry import waits
from shared.client.transport import Exchange
from shared.vocabulary import NewsKind
from shared.wire.live import STREAM_MEDIA_TYPE, LiveEvent

PATH = "/v1/stream"
SILENCE = 40.0
"""Seconds without a sign of life after which a connection is given up: two heartbeats and more."""

_LONGEST_EVENT = 16 * 1024  # bytes of a line, and of the data of one event
_LASTING = 5.0  # seconds after which a connection counts as one that held
_RESYNC = LiveEvent(kind=NewsKind.RESYNC)


async def live_events(
    exchange: Exchange, sleep: Callable[[float], Awaitable[None]]
) -> AsyncIterator[LiveEvent]:
    """Yield what happens, for ever. Raises Refused if this key may not listen at all."""
    clock = asyncio.get_running_loop().time
    pauses = waits()
    while True:
        asked = None
        began = clock()
        try:
            async with aclosing(_connection(exchange)) as events:
                async for event in events:
                    yield event
        except ClientError as error:
            if not error.worth_retrying:
                raise
            asked = error.retry_after
        if clock() - began > _LASTING:
            pauses = waits()
        await sleep(max(next(pauses), asked or 0.0))


async def _connection(exchange: Exchange) -> AsyncGenerator[LiveEvent, None]:
    """Yield the events of one connection, a resync first; end when the server ends it."""
    begun = False
    async with exchange.opened(PATH, STREAM_MEDIA_TYPE, silence=SILENCE) as response:
        async for data in _data(response):
            event = _event(data)
            # The server listens for us from its own first event on, so that is waited for.
            if not begun and (event is None or event.kind is not NewsKind.RESYNC):
                yield _RESYNC
            begun = True
            if event is not None:
                yield event


def _event(data: bytes) -> LiveEvent | None:
    """Return an event; None for one that a newer server tells and we do not know."""
    try:
        return msgspec.json.decode(data, type=LiveEvent)
    except msgspec.DecodeError:
        return None


async def _data(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the data of each event; comments, names and retry times are passed over."""
    data = bytearray()
    async for line in _lines(response):
        if line.startswith(b"data:"):
            data += line[5:].removeprefix(b" ") + b"\n"
            if len(data) > _LONGEST_EVENT:
                raise Garbled(response.status_code, "an event larger than any of ours")
        elif not line and data:
            yield bytes(data)
            data.clear()


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    rest = b""
    async for piece in response.aiter_raw():
        *whole, rest = (rest + piece).split(b"\n")
        if len(rest) > _LONGEST_EVENT:
            raise Garbled(response.status_code, "a line longer than any of ours")
        for line in whole:
            yield line.removesuffix(b"\r")

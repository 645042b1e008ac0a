"""The live stream: ids only, and never the truth. Whoever hears of something asks for it.

It ends when its reader goes, when the server stops, and soon after the key has lost its right to
it. Rights are looked at again all the time, since a stream may be open all day.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from typing import Any

import msgspec
from litestar import Controller, Request, get
from litestar.response import ServerSentEvent, ServerSentEventMessage

from backend.api.access import bearer_of, needs
from backend.db.errors import DatabaseError
from backend.domain.refusals import Unauthenticated
from backend.services.hub import Hub, Stream
from backend.services.keys import Keyring
from shared.vocabulary import Role
from shared.wire.live import HEARTBEAT_SECONDS, STREAM_MEDIA_TYPE, LiveEvent

LOOK_AGAIN = 3.0
"""Seconds after which the key of an open stream is looked at again."""

_RETRY_MS = 2_000
_HEARTBEAT = ServerSentEventMessage(data=None, comment="still here")
_ADMITTED = (Role.REVIEWER, Role.LEAD)


class StreamController(Controller):
    """`/v1/stream`."""

    tags = ("live",)

    @get(
        "/v1/stream",
        opt=needs(*_ADMITTED) | {"events": LiveEvent},
        media_type=STREAM_MEDIA_TYPE,
        summary="What happens, as it happens",
    )
    async def stream(self, request: Request[Any, Any, Any]) -> ServerSentEvent:
        """Tell where to look again, as Server-Sent Events; ids only, a resync first.

        An event is a hint: it may be missing, late or twice, and after a resync everything on
        screen is asked for anew. A comment comes every 15 seconds.
        """
        hub: Hub = request.app.state.hub
        keyring: Keyring = request.app.state.keyring
        return ServerSentEvent(
            _messages(hub.stream(request.user), keyring, bearer_of(request)),
            retry_duration=_RETRY_MS,
        )


async def _messages(
    place: AbstractContextManager[Stream], keyring: Keyring, bearer: str
) -> AsyncIterator[ServerSentEventMessage]:
    clock = asyncio.get_running_loop().time
    with place as stream:
        beat, look = clock() + HEARTBEAT_SECONDS, clock() + _spread(LOOK_AGAIN)
        while not stream.ended:
            if clock() >= look:
                await _look_again(stream, keyring, bearer)
                look = clock() + _spread(LOOK_AGAIN)
            event = await stream.take(min(beat, look) - clock())
            if event is not None:
                yield _message(event)
            elif clock() >= beat:
                yield _HEARTBEAT
            else:
                continue
            beat = clock() + HEARTBEAT_SECONDS


async def _look_again(stream: Stream, keyring: Keyring, bearer: str) -> None:
    """End the stream of a key that no longer has a right to it; in doubt it goes on."""
    try:
        who = await keyring.identify(bearer)
    except Unauthenticated:
        stream.end()
        return
    except DatabaseError:
        return  # nothing is heard now either
    if any(who.has(role) for role in _ADMITTED):
        stream.admit(who)
    else:
        stream.end()


def _spread(seconds: float) -> float:
    """Move a time by up to a quarter, so that streams that began together do not look together."""
    return seconds * random.uniform(0.75, 1.25)  # noqa: S311 - jitter is no secret


def _message(event: LiveEvent) -> ServerSentEventMessage:
    return ServerSentEventMessage(data=msgspec.json.encode(event), event=event.kind.value)

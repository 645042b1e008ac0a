"""The live stream: Server-Sent Events with ids only; what they point at is asked for."""

from __future__ import annotations

import msgspec

from shared.vocabulary import NewsKind

STREAM_MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0
"""How long a stream is silent at most: then a comment comes."""


class LiveEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The data of one event of `GET /v1/stream`; the event's name is its `kind`.

    `resync`: something may have been missed; ask for everything that is on screen.
    """

    kind: NewsKind
    queue: str | None = None
    item_id: str | None = None

"""News of what has been committed: told after the commit, never inside it, and never the truth.

Whoever hears it asks the database. A process that can't tell (its line is down) loses nothing but
promptness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from shared.vocabulary import NewsKind

LONGEST_PAYLOAD = 7_900
"""Bytes of one message between processes; the database takes less than 8,000."""

Key = Annotated[int, Meta(ge=1, le=2**63 - 1)]
QueueName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,39}\Z")]


class News(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that others may want to look at again.

    With `principal_id` it is for that person's terminals alone; without, for all who work in
    `queue` or lead it. A resync is for the whole tenant, or for everybody if that is 0.
    """

    kind: NewsKind
    tenant_id: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    queue: QueueName | None = None
    item_pk: Key | None = None
    principal_id: Key | None = None


RESYNC_ALL = News(kind=NewsKind.RESYNC, tenant_id=0)
"""Something was missed, and nobody knows what."""


Tell = Callable[[News], None]
"""Takes news and returns at once; it never raises."""


def nobody(news: News) -> None:
    """Tell nobody: for tests, and for commands that run beside the servers."""


def depth(tenant_id: int, *queues: str) -> list[News]:
    """Return the news that the depth of these queues changed."""
    return [
        News(kind=NewsKind.QUEUE_DEPTH, tenant_id=tenant_id, queue=queue)
        for queue in dict.fromkeys(queues)
    ]


def written(news: Iterable[News]) -> list[str]:
    """Write news as messages, none of them longer than a message may be."""
    messages: list[str] = []
    parts: list[bytes] = []
    for one in news:
        part = msgspec.json.encode(one)
        if parts and sum(map(len, parts)) + len(parts) + len(part) + 2 > LONGEST_PAYLOAD:
            messages.append(_message(parts))
            parts = []
        parts.append(part)
    return [*messages, _message(parts)] if parts else messages


def _message(parts: Iterable[bytes]) -> str:
    return f"[{b','.join(parts).decode()}]"


def heard(message: str) -> Iterator[News]:
    """Read a message that anybody may have sent; what is no news of ours is passed over."""
    try:
        parts = msgspec.json.decode(message, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return
    for part in parts:
        try:
            yield msgspec.json.decode(part, type=News)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue

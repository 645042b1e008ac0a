"""News of what has been committed: told after the commit, never inside it, and never the truth.

Whoever hears it asks the database. A process that can't tell (its line is down) loses nothing but
promptness.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from shared.vocabulary import NewsKind


class News(msgspec.Struct, frozen=True, kw_only=True):
    """Something that others may want to look at again.

    With `principal_id` it is for that person's terminals alone; without, for all who work in
    `queue` or lead it.
    """

    kind: NewsKind
    tenant_id: int
    queue: str | None = None
    item_pk: int | None = None
    principal_id: int | None = None


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

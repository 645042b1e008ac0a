"""Lists of leads, paged through to their ends."""

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.identity import Identity
from backend.services.items import item_page
from shared.vocabulary import ItemList
from shared.wire.item import ItemLine
from tests.support.desk import QUEUE, Desk


async def pages(
    desk: Desk, lead: Identity, wanted: ItemList, size: int = 3, queue: str = QUEUE
) -> list[list[ItemLine]]:
    """Page through a list to its end."""
    found, after = [], None
    while True:
        page = await item_page(desk.db, desk.policy, lead, queue, wanted, after, size)
        found.append(list(page.items))
        after = page.after
        if after is None:
            return found


async def lines(
    desk: Desk, lead: Identity, wanted: ItemList, size: int = 3, queue: str = QUEUE
) -> list[ItemLine]:
    return [line for page in await pages(desk, lead, wanted, size, queue) for line in page]


def ids(found: Sequence[ItemLine]) -> list[str]:
    return [line.content_id for line in found]

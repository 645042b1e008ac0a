"""A lead brings back what was set aside before its time comes."""

from __future__ import annotations

from collections.abc import Sequence

from backend.db.connection import Database
from backend.db.item import LockedItem, lock_items
from backend.db.park import wake_items as bring_back
from backend.domain.identity import Identity
from backend.services.move import DONE, FORBIDDEN
from backend.services.news import Tell, depth, nobody
from backend.services.rounds import Judged, in_chunks
from shared.vocabulary import BulkResult, ItemState, Role
from shared.wire.item import BulkAnswer, WakeItemsRequest

_RESOLVED: Judged = (BulkResult.RESOLVED, "it was resolved before")
_AWAKE: Judged = (BulkResult.UNCHANGED, "it is not parked")


async def wake_items(
    db: Database, who: Identity, request: WakeItemsRequest, *, tell: Tell = nobody
) -> BulkAnswer:
    """Wake parked items, with an answer for each; one that is not parked is left as it is.

    They come back as if their time had come: ranked as before, and no older for having rested.
    """

    async def deed(keys: Sequence[int]) -> dict[int, Judged]:
        async with db.transaction() as conn:
            items = await lock_items(conn, tenant_id=who.tenant_id, item_ids=sorted(keys))
            judged = {item.item_pk: _judge(who, item) for item in items}
            asleep = [key for key, said in judged.items() if said is DONE]
            woken = await bring_back(
                conn, tenant_id=who.tenant_id, item_ids=asleep, by=who.principal_id
            )
            if len(woken) != len(asleep):
                raise LookupError("an item that was locked could not be woken")
        for news in depth(who.tenant_id, *(row.queue for row in woken)):
            tell(news)
        return judged

    return await in_chunks(request.items, deed)


def _judge(who: Identity, item: LockedItem) -> Judged:
    if not who.may(Role.LEAD, item.queue):
        return FORBIDDEN
    if item.state == ItemState.RESOLVED:
        return _RESOLVED
    return DONE if item.state == ItemState.PARKED else _AWAKE

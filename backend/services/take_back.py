"""Take a lease back on a lead's word: its holder is away, or should not have it."""

from __future__ import annotations

from backend.db.connection import Connection, Database
from backend.db.lease import (
    TakenBackRow,
    WhoseRow,
    lock_for_take_back,
    take_back_lease,
    taken_back_before,
)
from backend.domain.identity import Identity
from backend.domain.model import utc_text
from backend.domain.refusals import Forbidden, NotFound, StaleLease
from backend.services.lease import at_rest, item_key
from backend.services.news import News, Tell, depth, nobody
from shared.vocabulary import ItemNow, NewsKind, Role
from shared.wire.item import TakeBackRequest, TakenBack


async def take_back(
    db: Database,
    who: Identity,
    item_id: str,
    request: TakeBackRequest,
    *,
    tell: Tell = nobody,
) -> TakenBack:
    """End the lease that the lead saw, and only that one; a repetition is answered alike.

    Raises NotFound, Forbidden for an item of a queue that `who` does not lead, and StaleLease where
    the lease of this epoch has ended otherwise.
    """
    item_pk = item_key(item_id)
    async with db.transaction() as conn:
        item = await lock_for_take_back(conn, tenant_id=who.tenant_id, item_id=item_pk)
        if item is None:
            raise NotFound("there is no such item", field="item_id")
        if not who.may(Role.LEAD, item.queue):
            raise Forbidden("you do not lead the queue of this item", field="item_id")
        taken = await take_back_lease(
            conn,
            item_id=item_pk,
            lease_epoch=request.lease_epoch,
            by_principal=who.principal_id,
            reason=request.reason.value,
        )
        before = taken or await _before(conn, item, request.lease_epoch)
    if taken is not None:
        _spread(who, item_pk, taken, tell)
    return TakenBack(item_id=item_id, holder=before.holder)


async def _before(conn: Connection, item: WhoseRow, lease_epoch: int) -> TakenBackRow:
    before = await taken_back_before(conn, item_id=item.item_pk, lease_epoch=lease_epoch)
    if before is None:
        raise _stale(item)
    return before


def _stale(item: WhoseRow) -> StaleLease:
    held = (ItemNow.LEASED, item.leased_at) if item.held else (ItemNow.FREE, None)
    true_now, since = at_rest(item) or held
    return StaleLease(
        "the lease that you saw has ended; look at the item again",
        field="lease_epoch",
        now=true_now.value,
        holder=item.holder if true_now is ItemNow.LEASED else None,
        since=None if since is None else utc_text(since),
        can_reclaim=False,
    )


def _spread(who: Identity, item_pk: int, taken: TakenBackRow, tell: Tell) -> None:
    tell(
        News(
            kind=NewsKind.LEASE_REVOKED,
            tenant_id=who.tenant_id,
            item_pk=item_pk,
            principal_id=taken.holder_pk,
        )
    )
    for news in depth(who.tenant_id, taken.queue):
        tell(news)

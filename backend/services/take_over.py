"""Take over a lease from another terminal of the same person: one of them can decide, not both."""

from __future__ import annotations

from uuid import UUID

from backend.db.claim import find_my_lease
from backend.db.connection import Database
from backend.db.lease import TakenOverRow, take_over_lease
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.services.claim import as_lease, queue_of_item
from backend.services.news import News, Tell, depth, nobody
from shared.vocabulary import NewsKind
from shared.wire.queue import MyLease, TakeOverRequest


async def take_over(
    db: Database,
    policy: Policy,
    who: Identity,
    request: TakeOverRequest,
    *,
    tell: Tell = nobody,
) -> MyLease:
    """Give what `who` holds, lapsed or not, to the terminal that asks; no lease if he holds none.

    The same `claim_key` again returns the same token, and so does a lapsed lease that was held for
    as long as may be: it can't live again, and its token is good until somebody else has the item.
    Raises Forbidden where he may not work any more, Busy, and what `Database.transaction` does.
    """
    async with db.transaction() as conn:
        taken = await take_over_lease(
            conn,
            principal_id=who.principal_id,
            claim_key=UUID(request.claim_key),
            terminal=request.terminal,
        )
        mine = None
        if taken is not None:
            queue_of_item(policy, who, taken.queue)
            mine = await find_my_lease(conn, principal_id=who.principal_id)
    if taken is not None and taken.rotated:
        _spread(who, taken, tell)
    return MyLease(lease=None if mine is None else as_lease(mine, policy))


def _spread(who: Identity, taken: TakenOverRow, tell: Tell) -> None:
    tell(
        News(
            kind=NewsKind.LEASE_REVOKED,
            tenant_id=who.tenant_id,
            item_pk=taken.item_pk,
            principal_id=who.principal_id,
        )
    )
    if taken.was_waiting:
        for news in depth(who.tenant_id, taken.queue):
            tell(news)

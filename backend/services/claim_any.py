"""Claim from several queues: whichever has kept somebody waiting longest, by its own promise."""

from __future__ import annotations

from uuid import UUID

from backend.db.claim import fair_order
from backend.db.connection import Database
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.services.claim import Asking, as_lease, queues_asked, take
from backend.services.news import Tell, nobody
from shared.wire.queue import ClaimAnyAnswer, ClaimAnyRequest


async def claim_any(
    db: Database, policy: Policy, who: Identity, request: ClaimAnyRequest, *, tell: Tell = nobody
) -> ClaimAnyAnswer:
    """Lease from the queue whose oldest item on offer has used the largest share of its SLA.

    If that one has nothing for `who`, the next is tried; equals in the policy's order. The same
    `claim_key` returns the same lease while it lives, whichever queue it came from. Raises
    InvalidField for a queue that does not exist, Forbidden where `who` may not work, and LeaseHeld
    for a person who holds another item.
    """
    queues = queues_asked(policy, who, request.queues, "queues")
    async with db.connection() as conn:
        order = await fair_order(conn, tenant_id=who.tenant_id, queues=queues)
    asking = Asking(
        who=who, claim_key=UUID(request.claim_key), terminal=request.terminal, tell=tell
    )
    leased, figures = await take(db, asking, order)
    lease = None if leased is None else as_lease(leased, policy)
    return ClaimAnyAnswer(lease=lease, figures=figures)

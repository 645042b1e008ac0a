"""Claim the next item, and say what a person holds or why there is nothing to take."""

from __future__ import annotations

from uuid import UUID

import msgspec

from backend.db.claim import LeaseRow, claim_next, find_my_lease, forget_claim, queue_figures
from backend.db.connection import Connection, Database
from backend.db.errors import ConstraintError
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.refusals import Busy, Forbidden, LeaseHeld, NotFound
from shared.vocabulary import ItemSource
from shared.wire.queue import (
    ClaimAnswer,
    Lease,
    MyLease,
    QueueFigures,
    QueueView,
    RankWeights,
)

_NEW_POLICY = "a new policy is coming into force; send it again in a second"
_NOTICED_MS = 1_000


async def claim(
    db: Database, policy: Policy, who: Identity, queue: str, claim_key: str
) -> ClaimAnswer:
    """Lease the best-ranked item of `queue` that `who` may take.

    The same `claim_key` returns the same lease while it lives. Raises Forbidden, NotFound for a
    queue that does not exist, and LeaseHeld for a person who holds another item.
    """
    queue = refuse_stranger(policy, who, queue)
    key = UUID(claim_key)
    leased = await _take(db, who, queue, key)
    async with db.connection() as conn:
        if leased is None:
            leased = await _held(conn, who, key)
        figures = await _figures(conn, who, queue)
    lease = None if leased is None else as_lease(leased, policy)
    return ClaimAnswer(lease=lease, figures=figures)


async def _take(db: Database, who: Identity, queue: str, claim_key: UUID) -> LeaseRow | None:
    try:
        return await _granted(db, who, queue, claim_key)
    except ConstraintError as error:
        if error.constraint != "item_claim_key":
            raise
    # What was granted under this key has run out without being given back: it makes way.
    async with db.connection() as conn:
        await forget_claim(conn, principal_id=who.principal_id, claim_key=claim_key)
    return await _granted(db, who, queue, claim_key)


async def _granted(db: Database, who: Identity, queue: str, claim_key: UUID) -> LeaseRow | None:
    async with db.connection() as conn:
        return await claim_next(
            conn,
            tenant_id=who.tenant_id,
            queue=queue,
            principal_id=who.principal_id,
            claim_key=claim_key,
        )


async def _held(conn: Connection, who: Identity, claim_key: UUID) -> LeaseRow | None:
    """Return the lease that this very claim was granted before, or None if nothing is held."""
    mine = await find_my_lease(conn, principal_id=who.principal_id)
    if mine is None or mine.expires_in_ms <= 0:
        return None
    if mine.claim_key != claim_key:
        raise LeaseHeld(
            "decide or release it first; GET /v1/me/lease returns it",
            item_id=str(mine.item_pk),
            queue=mine.queue,
            expires_in_ms=mine.expires_in_ms,
        )
    return mine


async def my_lease(db: Database, policy: Policy, who: Identity) -> MyLease:
    """Return what `who` holds: also a lapsed lease, as long as nobody else has taken the item."""
    async with db.connection() as conn:
        mine = await find_my_lease(conn, principal_id=who.principal_id)
    return MyLease(lease=None if mine is None else as_lease(mine, policy))


async def queue_view(db: Database, policy: Policy, who: Identity, queue: str) -> QueueView:
    """Return one queue with its figures and the reasons that it offers.

    Raises Forbidden, and NotFound for a queue that does not exist.
    """
    queue = refuse_stranger(policy, who, queue)
    async with db.connection() as conn:
        return await _view(conn, policy, who, queue)


async def my_queues(db: Database, policy: Policy, who: Identity) -> tuple[QueueView, ...]:
    """Return the queues of the policy that `who` may work in, in the policy's order."""
    names = [name for name in policy.queues if _may_work(policy, who, name)]
    async with db.connection() as conn:
        return tuple([await _view(conn, policy, who, name) for name in names])


def refuse_stranger(policy: Policy, who: Identity, queue: str) -> str:
    """Return the queue that goes by this name, or that took its place.

    Raises NotFound for a queue that the policy lacks, Forbidden where `who` may not work, and Busy
    where he may as soon as his key is looked up again, since what is granted for a queue follows.
    """
    present = policy.queue_named(queue)
    if present is None:
        raise NotFound("there is no such queue", field="queue")
    if not _may_work(policy, who, present):
        if _granted_formerly(policy, who, present):
            raise Busy(_NEW_POLICY, retry_after_ms=_NOTICED_MS)
        raise Forbidden("your key has no role in this queue", field="queue")
    return present


def queue_of_item(policy: Policy, who: Identity, queue: str) -> str:
    """Return the same for the queue of an item, which exists: if the policy lacks it, it is old.

    Raises Busy until this process knows the policy that names the queue, and Forbidden.
    """
    if policy.queue_named(queue) is None:
        raise Busy(_NEW_POLICY, retry_after_ms=_NOTICED_MS)
    return refuse_stranger(policy, who, queue)


def _granted_formerly(policy: Policy, who: Identity, queue: str) -> bool:
    return any(
        grant.queue not in (None, queue)
        and grant.role in policy.queues[queue].claimable_by
        and policy.queue_named(grant.queue) == queue
        for grant in who.grants
    )


def _may_work(policy: Policy, who: Identity, queue: str) -> bool:
    return any(who.may(role, queue) for role in policy.queues[queue].claimable_by)


async def _view(conn: Connection, policy: Policy, who: Identity, queue: str) -> QueueView:
    row = await queue_figures(
        conn, tenant_id=who.tenant_id, queue=queue, principal_id=who.principal_id
    )
    if row is None:
        raise NotFound("there is no such queue", field="queue")
    return QueueView(
        queue=row.queue,
        title=row.title,
        figures=msgspec.convert(row, QueueFigures, from_attributes=True),
        lease_ttl_ms=row.lease_ttl_ms,
        undo_window_ms=row.undo_window_ms,
        reasons=policy.reasons_for(queue),
    )


async def _figures(conn: Connection, who: Identity, queue: str) -> QueueFigures:
    row = await queue_figures(
        conn, tenant_id=who.tenant_id, queue=queue, principal_id=who.principal_id
    )
    if row is None:
        raise NotFound("there is no such queue", field="queue")
    return msgspec.convert(row, QueueFigures, from_attributes=True)


def as_lease(row: LeaseRow, policy: Policy) -> Lease:
    """Return a leased item as its holder sees it."""
    terms = policy.queues.get(policy.queue_named(row.queue) or row.queue)
    return Lease(
        item_id=str(row.item_pk),
        content_id=row.content_id,
        queue=row.queue,
        round=row.round,
        source=ItemSource(row.source),
        lease_token=str(row.fence_token),
        expires_in_ms=row.expires_in_ms,
        ttl_ms=row.ttl_ms,
        lease_count=row.lease_count,
        left_by=row.left_by,
        abandon_threshold=row.abandon_threshold,
        rank=row.rank,
        base=row.base,
        weights=msgspec.convert(policy.weights, RankWeights, from_attributes=True),
        severity=row.severity,
        author_followers=row.author_followers,
        waited_ms=row.waited_ms,
        sla_ms=row.sla_ms,
        evidence=row.evidence,
        evidence_hash=row.evidence_hash,
        verdicts=() if terms is None else terms.verdicts,
    )

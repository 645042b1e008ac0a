"""Claim the next item, and say what a person holds or why there is nothing to take.

A claim that is granted is one statement. Figures are counted for whoever gets nothing, and for
whoever asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import msgspec

from backend.db.claim import LeaseRow, claim_next, find_my_lease, queue_figures
from backend.db.connection import Connection, Database
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.refusals import Busy, Forbidden, InvalidField, LeaseHeld, NotFound
from backend.services.news import News, Tell, depth, nobody
from shared.vocabulary import ItemSource, NewsKind, Role
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


_TRIES = 2
"""What a claim woke, or gave back beyond its share, is on offer from the next one on."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """Whose claim it is, the key that makes its retry the same claim, and his terminal."""

    who: Identity
    claim_key: UUID
    terminal: str | None = None
    tell: Tell = nobody


async def claim(  # noqa: PLR0913 - who asks for what, and whom it concerns
    db: Database,
    policy: Policy,
    who: Identity,
    queue: str,
    claim_key: str,
    *,
    terminal: str | None = None,
    tell: Tell = nobody,
) -> ClaimAnswer:
    """Lease the best-ranked item of `queue` that `who` may take.

    The same `claim_key` returns the same lease while it lives. Raises Forbidden, NotFound for a
    queue that does not exist, and LeaseHeld for a person who holds another item.
    """
    queue = refuse_stranger(policy, who, queue)
    asking = Asking(who=who, claim_key=UUID(claim_key), terminal=terminal, tell=tell)
    leased, figures = await take(db, asking, [queue])
    if leased is None:
        return ClaimAnswer(lease=None, figures=figures[0])
    return ClaimAnswer(lease=as_lease(leased, policy))


async def take(
    db: Database, asking: Asking, queues: Sequence[str]
) -> tuple[LeaseRow | None, tuple[QueueFigures, ...]]:
    """Lease from the first of `queues` that has something, or return the figures that say why not.

    Raises LeaseHeld for a person who holds what another claim was granted.
    """
    figures: tuple[QueueFigures, ...] = ()
    trying = queues
    async with db.connection() as conn:
        for _ in range(_TRIES):
            leased = await _granted(conn, asking, trying) or await _held(conn, asking)
            if leased is not None:
                return leased, ()
            figures = tuple([await _figures(conn, asking.who, queue) for queue in queues])
            trying = [each.queue for each in figures if each.free > each.not_for_you]
            if not trying:
                break
    return None, figures


async def _granted(conn: Connection, asking: Asking, queues: Sequence[str]) -> LeaseRow | None:
    """Try one queue after the other; each try is a transaction of its own."""
    who = asking.who
    for queue in queues:
        leased = await claim_next(
            conn,
            tenant_id=who.tenant_id,
            queue=queue,
            principal_id=who.principal_id,
            claim_key=asking.claim_key,
            terminal=asking.terminal,
        )
        if leased is not None:
            for news in _news(who, leased):
                asking.tell(news)
            return leased
    return None


def _news(who: Identity, leased: LeaseRow) -> list[News]:
    told = depth(who.tenant_id, leased.queue)
    if leased.taken_from is not None:
        revoked = News(
            kind=NewsKind.LEASE_REVOKED,
            tenant_id=who.tenant_id,
            item_pk=leased.item_pk,
            principal_id=leased.taken_from,
        )
        told.append(revoked)
    return told


async def _held(conn: Connection, asking: Asking) -> LeaseRow | None:
    """Return the lease that this very claim was granted before, or None if nothing is held."""
    mine = await find_my_lease(conn, principal_id=asking.who.principal_id)
    if mine is None or mine.expires_in_ms <= 0:
        return None
    if mine.claim_key != asking.claim_key:
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
    async with db.connection() as conn:
        return tuple([await _view(conn, policy, who, name) for name in _mine(policy, who)])


async def figures_of(db: Database, who: Identity, queues: Sequence[str]) -> list[QueueFigures]:
    """Return the figures of queues, in the order asked."""
    async with db.connection() as conn:
        return [await _figures(conn, who, queue) for queue in queues]


def queues_asked(
    policy: Policy, who: Identity, asked: Sequence[str] | None, field: str
) -> list[str]:
    """Return the queues that are asked for, in the policy's order; None stands for all of his.

    Raises InvalidField for a queue that does not exist and Forbidden where `who` may not work, both
    with the place in `field`, and Busy as `refuse_stranger` does.
    """
    if asked is None:
        mine = _mine(policy, who)
        if not mine:
            raise Forbidden("your key has no role in any queue")
        return mine
    named = {_one_asked(policy, who, name, f"{field}[{place}]") for place, name in enumerate(asked)}
    return [name for name in policy.queues if name in named]


def _one_asked(policy: Policy, who: Identity, queue: str, field: str) -> str:
    try:
        return refuse_stranger(policy, who, queue)
    except (Forbidden, NotFound) as refusal:
        # Whoever has no role there does not learn either whether there is such a queue.
        if isinstance(refusal, NotFound) and any(who.may(role, queue) for role in Role):
            raise InvalidField("there is no such queue", field=field) from None
        raise Forbidden(
            "your key has no role in this queue, if there is one", field=field
        ) from None


def _mine(policy: Policy, who: Identity) -> list[str]:
    return [name for name in policy.queues if _may_work(policy, who, name)]


def refuse_stranger(policy: Policy, who: Identity, queue: str) -> str:
    """Return the queue that goes by this name, or that took its place.

    Raises NotFound for a queue that the policy lacks, Forbidden where `who` may not work, and Busy
    where he may as soon as his key is looked up again, since what is granted for a queue follows:
    for a few seconds after an activation, since what was taken from him later never comes.
    """
    present = policy.queue_named(queue)
    if present is None:
        raise NotFound("there is no such queue", field="queue")
    if not _may_work(policy, who, present):
        if policy.settling and _granted_formerly(policy, who, present):
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
        sla_age_ms=row.sla_age_ms,
        sla_ms=row.sla_ms,
        evidence=row.evidence,
        evidence_hash=row.evidence_hash,
        verdicts=() if terms is None else terms.verdicts,
        terminal=row.terminal,
    )

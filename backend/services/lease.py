"""Keep a lease alive, give it back, and explain to somebody what became of one."""

from __future__ import annotations

from uuid import UUID

from backend.db.connection import Connection, Database
from backend.db.lease import ItemNowRow, item_now, release_lease, renew_lease
from backend.domain.identity import Identity
from backend.domain.model import utc_text
from backend.domain.refusals import NotFound, StaleLease
from shared.vocabulary import COUNTED_RELEASES, ItemNow, ItemState, Resolution
from shared.wire.queue import Released, ReleaseRequest, Renewed, RenewRequest

_LARGEST_ID = 2**63 - 1
_MOST_DIGITS = 19


async def renew(db: Database, who: Identity, item_id: str, request: RenewRequest) -> Renewed:
    """Give the holder more time, up to the queue's longest hold.

    Raises NotFound, and StaleLease for a token that is not the fence any more.
    """
    item_pk, token = item_key(item_id), UUID(request.lease_token)
    async with db.connection() as conn:
        row = await renew_lease(
            conn, item_id=item_pk, fence_token=token, principal_id=who.principal_id
        )
        if row is None:
            raise await stale(conn, who, item_pk, token)
    return Renewed(expires_in_ms=row.expires_in_ms, capped=row.capped)


async def release(db: Database, who: Identity, item_id: str, request: ReleaseRequest) -> Released:
    """Give an item back undecided. Raises NotFound, and StaleLease as `renew` does."""
    item_pk, token = item_key(item_id), UUID(request.lease_token)
    async with db.connection() as conn:
        row = await release_lease(
            conn,
            item_id=item_pk,
            fence_token=token,
            principal_id=who.principal_id,
            reason=request.reason.value,
            counts=request.reason in COUNTED_RELEASES,
        )
        if row is None:
            raise await stale(conn, who, item_pk, token)
    return Released(item_id=item_id)


def item_key(item_id: str) -> int:
    """Return the key of an item from its wire form; raises NotFound for what can't be one."""
    if not (item_id.isascii() and item_id.isdigit()) or len(item_id) > _MOST_DIGITS:
        raise NotFound("there is no such item", field="item_id")
    key = int(item_id)
    if key > _LARGEST_ID:
        raise NotFound("there is no such item", field="item_id")
    return key


async def stale(
    conn: Connection, who: Identity, item_pk: int, token: UUID
) -> StaleLease | NotFound:
    """Return the refusal for a token that is no fence: what is true now, never what was decided.

    Who never held this token learns nothing but that.
    """
    now = await item_now(
        conn,
        tenant_id=who.tenant_id,
        item_id=item_pk,
        principal_id=who.principal_id,
        fence_token=token,
    )
    if now is None:
        return NotFound("there is no such item", field="item_id")
    if not now.was_granted:
        return StaleLease("this token is not the lease of this item", field="lease_token")
    return _told(now)


def _told(now: ItemNowRow) -> StaleLease:
    true_now = _true_now(now)
    since = now.resolved_at or (now.leased_at if now.held_by_other else now.escalated_at)
    return StaleLease(
        "nothing of yours was recorded and nothing was overwritten",
        now=true_now.value,
        holder=now.holder if true_now is ItemNow.LEASED else None,
        since=None if since is None else utc_text(since),
        can_reclaim=true_now is ItemNow.FREE,
    )


def _true_now(now: ItemNowRow) -> ItemNow:
    if now.resolution == Resolution.WITHDRAWN:
        return ItemNow.WITHDRAWN
    if now.resolution is not None:
        return ItemNow.RESOLVED
    if now.state == ItemState.PARKED:
        return ItemNow.PARKED
    if now.escalated_at and now.granted_at and now.escalated_at > now.granted_at:
        return ItemNow.ESCALATED
    return ItemNow.LEASED if now.held_by_other else ItemNow.FREE

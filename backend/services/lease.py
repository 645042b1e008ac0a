"""Keep a lease alive, give it back, and explain to somebody what became of one."""

from __future__ import annotations

from datetime import datetime
from operator import itemgetter
from typing import TypeAlias
from uuid import UUID

from backend.db.connection import Connection, Database
from backend.db.lease import ItemNowRow, WhoseRow, item_now, own_end, release_lease, renew_lease
from backend.domain.identity import Identity
from backend.domain.model import utc_text
from backend.domain.policy import Policy
from backend.domain.refusals import NotFound, StaleLease
from backend.services.claim import queue_of_item
from backend.services.news import Tell, depth, nobody
from shared.vocabulary import (
    COUNTED_RELEASES,
    ItemNow,
    ItemState,
    LeaseHappening,
    Resolution,
    Role,
)
from shared.wire.queue import Released, ReleaseRequest, Renewed, RenewRequest

_LARGEST_ID = 2**63 - 1
_MOST_DIGITS = 19


async def renew(
    db: Database, policy: Policy, who: Identity, item_id: str, request: RenewRequest
) -> Renewed:
    """Give the holder more time, up to the queue's longest hold.

    Raises NotFound, StaleLease for a token that is not the fence any more, Forbidden where the
    holder may not work any more (he may still give the item back), and Busy.
    """
    item_pk, token = item_key(item_id), UUID(request.lease_token)
    async with db.transaction() as conn:
        row = await renew_lease(
            conn, item_id=item_pk, fence_token=token, principal_id=who.principal_id
        )
        if row is None:
            raise await stale(conn, who, item_pk, token)
        queue_of_item(policy, who, row.queue)
    return Renewed(expires_in_ms=row.expires_in_ms, capped=row.capped)


async def release(
    db: Database,
    who: Identity,
    item_id: str,
    request: ReleaseRequest,
    *,
    tell: Tell = nobody,
) -> Released:
    """Give an item back undecided; a repetition is answered like the first.

    Nobody needs a right to the queue for that. Raises NotFound, and StaleLease as `renew` does.
    """
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
        if row is None and not await _released_before(conn, who, item_pk, token):
            raise await stale(conn, who, item_pk, token)
    if row is not None:
        for news in depth(row.tenant_id, row.queue):
            tell(news)
    return Released(item_id=item_id)


async def _released_before(conn: Connection, who: Identity, item_pk: int, token: UUID) -> bool:
    released = await own_end(
        conn,
        item_id=item_pk,
        fence_token=token,
        principal_id=who.principal_id,
        happening=LeaseHappening.RELEASE.value,
    )
    return released is not None


def item_key(item_id: str) -> int:
    """Return the key of an item from its wire form; raises NotFound for what can't be one."""
    if not (item_id.isascii() and item_id.isdigit()) or len(item_id) > _MOST_DIGITS:
        raise NotFound("there is no such item", field="item_id")
    key = int(item_id)
    # An id has one form: whoever compares two as text must be right.
    if key > _LARGEST_ID or str(key) != item_id:
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
    if now.granted_at is None:
        return StaleLease("this token is not the lease of this item", field="lease_token")
    return _told(who, now)


def _told(who: Identity, now: ItemNowRow) -> StaleLease:
    true_now, since = _true_now(now)
    may_work = who.may(Role.REVIEWER, now.queue) or who.may(Role.LEAD, now.queue)
    return StaleLease(
        "nothing of yours was recorded and nothing was overwritten",
        now=true_now.value,
        holder=now.holder if true_now is ItemNow.LEASED else None,
        since=None if since is None else utc_text(since),
        can_reclaim=true_now is ItemNow.FREE and now.can_have and may_work,
    )


Truth: TypeAlias = tuple[ItemNow, datetime | None]
"""What is true of an item, and since when."""


def at_rest(now: ItemNowRow | WhoseRow) -> Truth | None:
    """Return how an item rests that nobody can hold, parked or resolved; None for any other."""
    if now.resolution is not None:
        withdrawn = now.resolution == Resolution.WITHDRAWN
        return ItemNow.WITHDRAWN if withdrawn else ItemNow.RESOLVED, now.resolved_at
    return (ItemNow.PARKED, now.parked_at) if now.state == ItemState.PARKED else None


def _true_now(now: ItemNowRow) -> Truth:
    """Return the first that applies, what is final first."""
    first = at_rest(now) or _sent_elsewhere(now)
    if first is not None:
        return first
    if now.held_by_other:
        return ItemNow.LEASED, now.leased_at
    if now.mine_since is not None:
        return ItemNow.TAKEN_OVER, now.mine_since
    if now.ended_by == LeaseHappening.TAKE_BACK:
        return ItemNow.TAKEN_BACK, now.ended_at
    return ItemNow.FREE, None


def _sent_elsewhere(now: ItemNowRow) -> Truth | None:
    """Return the later of an escalation and a move since the token was granted, if any."""
    found = [
        (at, word)
        for at, word, deed in (
            (now.escalated_at, ItemNow.ESCALATED, LeaseHappening.ESCALATE),
            (now.moved_at, ItemNow.MOVED, LeaseHappening.MOVE),
        )
        if at is not None
        # The deed that ended this very token came after its grant, whatever the clock can tell.
        and (now.ended_by == deed or (now.granted_at is not None and at > now.granted_at))
    ]
    if not found:
        return None
    at, word = max(found, key=itemgetter(0))
    return word, at

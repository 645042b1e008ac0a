"""Statements of `sql/queries/lease.sql`: what happens to a lease between its grant and its end."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from backend.db.statements import many, maybe, run, statement


class RenewedRow(msgspec.Struct, frozen=True, kw_only=True):
    """Time left after a renewal, and whether the queue's longest hold cut it short."""

    expires_in_ms: int
    capped: bool


class ItemRow(msgspec.Struct, frozen=True, kw_only=True):
    """The key of one item."""

    item_pk: int


class ItemNowRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of an item, for somebody who shows a token of it."""

    state: str
    resolution: str | None
    escalated_at: datetime | None
    leased_at: datetime | None
    resolved_at: datetime | None
    holder: str | None
    held_by_other: bool
    granted_at: datetime | None
    was_granted: bool


class AbandonedRow(msgspec.Struct, frozen=True, kw_only=True):
    """An item that enough different people left undecided, locked together with its content."""

    item_pk: int
    tenant: str
    content_pk: int
    content_id: str
    queue: str
    lease_count: int
    left_by: int
    escalation_queue: str | None
    escalation_boost: float
    escalated_at: datetime | None
    seq: int
    chain_head: bytes
    now: datetime


async def renew_lease(
    conn: Any, *, item_id: int, fence_token: UUID, principal_id: int
) -> RenewedRow | None:
    """Give the holder more time; None if the token is no longer the fence, or not his."""
    return await maybe(
        statement("lease", "renew_lease"),
        RenewedRow,
        conn,
        item_id=item_id,
        fence_token=fence_token,
        principal_id=principal_id,
    )


async def release_lease(
    conn: Any, *, item_id: int, fence_token: UUID, principal_id: int, reason: str, counts: bool
) -> ItemRow | None:
    """Give an item back undecided; None if the token is no longer the fence, or not his."""
    return await maybe(
        statement("lease", "release_lease"),
        ItemRow,
        conn,
        item_id=item_id,
        fence_token=fence_token,
        principal_id=principal_id,
        reason=reason,
        counts=counts,
    )


async def item_now(
    conn: Any, *, tenant_id: int, item_id: int, principal_id: int, fence_token: UUID
) -> ItemNowRow | None:
    """Say what is true of an item; None if the tenant has none of this id."""
    return await maybe(
        statement("lease", "item_now"),
        ItemNowRow,
        conn,
        tenant_id=tenant_id,
        item_id=item_id,
        principal_id=principal_id,
        fence_token=fence_token,
    )


async def lock_run_out(conn: Any, *, limit: int) -> list[int]:
    """Lock up to `limit` items whose leases have run out."""
    rows = await many(statement("lease", "lock_run_out"), ItemRow, conn, limit=limit)
    return [row.item_pk for row in rows]


async def give_back(conn: Any, *, item_ids: list[int]) -> list[int]:
    """Return run-out leases to their queues; gives the ids of those that still were run out."""
    rows = await many(statement("lease", "give_back"), ItemRow, conn, item_ids=item_ids)
    return [row.item_pk for row in rows]


async def lock_abandoned(conn: Any, *, limit: int) -> list[AbandonedRow]:
    """Lock up to `limit` items at their abandon threshold, with their contents."""
    return await many(statement("lease", "lock_abandoned"), AbandonedRow, conn, limit=limit)


async def move_to_escalation(conn: Any, *, item_id: int, queue: str, boost: float) -> None:
    """Move an abandoned item, once, to the escalation queue."""
    await run(
        statement("lease", "move_to_escalation"), conn, item_id=item_id, queue=queue, boost=boost
    )


async def mark_stuck(conn: Any, *, item_id: int) -> None:
    """Mark an item that no queue takes further."""
    await run(statement("lease", "mark_stuck"), conn, item_id=item_id)

"""Statements of `sql/queries/lease.sql`: what happens to a lease between its grant and its end."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from backend.db.statements import many, maybe, run, statement


class RenewedRow(msgspec.Struct, frozen=True, kw_only=True):
    """Time left after a renewal, whether the queue's longest hold cut it short, and the queue."""

    expires_in_ms: int
    capped: bool
    queue: str


class ItemRow(msgspec.Struct, frozen=True, kw_only=True):
    """The key of one item."""

    item_pk: int


class PlacedRow(msgspec.Struct, frozen=True, kw_only=True):
    """The key of one item, and the queue in which it now waits."""

    item_pk: int
    tenant_id: int
    queue: str


class EndRow(msgspec.Struct, frozen=True, kw_only=True):
    """When a person ended a lease of his; `expires_at` is when what he set aside comes back."""

    at: datetime
    expires_at: datetime | None


class TakenOverRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a person holds at another terminal now; `rotated` is false for a repetition."""

    item_pk: int
    queue: str
    rotated: bool
    was_waiting: bool


class WhoseRow(msgspec.Struct, frozen=True, kw_only=True):
    """A locked item as a lead may know it; `held`: somebody's lease of it lives."""

    item_pk: int
    queue: str
    state: str
    resolution: str | None
    resolved_at: datetime | None
    parked_at: datetime | None
    leased_at: datetime | None
    holder: str | None
    held: bool


class TakenBackRow(msgspec.Struct, frozen=True, kw_only=True):
    """From whom a lease was taken back, and where its item waits."""

    holder_pk: int
    holder: str
    queue: str


class ItemNowRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of an item, for somebody who shows a token of it.

    `granted_at` None: that token was never his. `mine_since`: he holds it under a newer one.
    `can_have` leaves out whether he may work in the queue at all.
    """

    state: str
    queue: str
    resolution: str | None
    resolved_at: datetime | None
    parked_at: datetime | None
    escalated_at: datetime | None
    moved_at: datetime | None
    leased_at: datetime | None
    holder: str | None
    held_by_other: bool | None
    mine_since: datetime | None
    granted_at: datetime | None
    ended_by: str | None
    ended_at: datetime | None
    can_have: bool


class AbandonedRow(msgspec.Struct, frozen=True, kw_only=True):
    """An item that enough different people left undecided, locked together with its content."""

    item_pk: int
    tenant_id: int
    tenant: str
    content_pk: int
    content_id: str
    queue: str
    owner: int | None
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
) -> PlacedRow | None:
    """Give an item back undecided; None if the token is no longer the fence, or not his."""
    return await maybe(
        statement("lease", "release_lease"),
        PlacedRow,
        conn,
        item_id=item_id,
        fence_token=fence_token,
        principal_id=principal_id,
        reason=reason,
        counts=counts,
    )


async def own_end(
    conn: Any, *, item_id: int, fence_token: UUID, principal_id: int, happening: str
) -> EndRow | None:
    """Tell whether this person himself ended the lease of this token in this way, and when."""
    return await maybe(
        statement("lease", "own_end"),
        EndRow,
        conn,
        item_id=item_id,
        fence_token=fence_token,
        principal_id=principal_id,
        happening=happening,
    )


async def take_over_lease(
    conn: Any, *, principal_id: int, claim_key: UUID, terminal: str | None
) -> TakenOverRow | None:
    """Give what a person holds to another of his terminals; None if he holds nothing."""
    return await maybe(
        statement("lease", "take_over_lease"),
        TakenOverRow,
        conn,
        principal_id=principal_id,
        claim_key=claim_key,
        terminal=terminal,
    )


async def lock_for_take_back(conn: Any, *, tenant_id: int, item_id: int) -> WhoseRow | None:
    """Lock an item and read whose it is; None if the tenant has none of this id."""
    return await maybe(
        statement("lease", "lock_for_take_back"),
        WhoseRow,
        conn,
        tenant_id=tenant_id,
        item_id=item_id,
    )


async def take_back_lease(
    conn: Any, *, item_id: int, lease_epoch: int, by_principal: int, reason: str
) -> TakenBackRow | None:
    """End the lease of this epoch; None if the item has another, or nobody's."""
    return await maybe(
        statement("lease", "take_back_lease"),
        TakenBackRow,
        conn,
        item_id=item_id,
        lease_epoch=lease_epoch,
        by_principal=by_principal,
        reason=reason,
    )


async def taken_back_before(conn: Any, *, item_id: int, lease_epoch: int) -> TakenBackRow | None:
    """Find from whom the lease of this epoch was taken back, if it was."""
    return await maybe(
        statement("lease", "taken_back_before"),
        TakenBackRow,
        conn,
        item_id=item_id,
        lease_epoch=lease_epoch,
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
    """Lock up to `limit` items of each queue whose leases have run out."""
    rows = await many(statement("lease", "lock_run_out"), ItemRow, conn, limit=limit)
    return [row.item_pk for row in rows]


async def give_back(conn: Any, *, item_ids: list[int]) -> list[PlacedRow]:
    """Return run-out leases to their queues; gives those that still were run out."""
    return await many(statement("lease", "give_back"), PlacedRow, conn, item_ids=item_ids)


async def lock_abandoned(conn: Any, *, after: int, limit: int) -> list[AbandonedRow]:
    """Lock up to `limit` items at their abandon threshold, with their contents, by id."""
    return await many(
        statement("lease", "lock_abandoned"), AbandonedRow, conn, after=after, limit=limit
    )


async def move_to_escalation(conn: Any, *, item_id: int, queue: str, boost: float) -> None:
    """Move an abandoned item, once, to the escalation queue."""
    await run(
        statement("lease", "move_to_escalation"), conn, item_id=item_id, queue=queue, boost=boost
    )


async def mark_stuck(conn: Any, *, item_id: int) -> None:
    """Mark an item that no queue takes further."""
    await run(statement("lease", "mark_stuck"), conn, item_id=item_id)

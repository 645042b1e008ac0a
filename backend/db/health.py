"""Statements of `sql/queries/health.sql`: the figures of the health screen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from backend.db.statements import many, one, statement


class QueueHealthRow(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one queue; counts are capped at 100,000."""

    queue: str
    title: str
    open: bool
    waiting: int
    in_review: int
    lapsed: int
    escalating: int
    stuck: int
    parked: int
    oldest_ms: int | None
    sla_ms: int


class StaffingRow(msgspec.Struct, frozen=True, kw_only=True):
    """Who is there for a queue, and how much waits that none of them may take (capped)."""

    queue: str
    present: int
    unclaimable: int


class LeaseCountRow(msgspec.Struct, frozen=True, kw_only=True):
    """How many unresolved items of a queue were leased that often; five means five or more."""

    queue: str
    leases: int
    items: int


class EffectHealthRow(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided and has not taken effect, and what is held."""

    as_of: datetime
    not_applied: int
    not_applied_oldest_ms: int | None
    waiting_to_apply: int
    dead: int
    held: int
    decided_last_hour: int


async def queue_health(conn: Any, *, tenant_id: int) -> list[QueueHealthRow]:
    """Read the state of each queue of a tenant."""
    return await many(
        statement("health", "queue_health"), QueueHealthRow, conn, tenant_id=tenant_id
    )


async def staffing(
    conn: Any,
    *,
    tenant_id: int,
    claimable_by: Sequence[tuple[str, str]],
    principal_id: int,
    present_within: timedelta,
) -> list[StaffingRow]:
    """Count who is present for each queue, and what nobody of them may take.

    `claimable_by` pairs each queue with the roles that may claim there. Leading a queue does not
    make the asker present: a lead who looks on is nobody who will take it.
    """
    return await many(
        statement("health", "staffing"),
        StaffingRow,
        conn,
        tenant_id=tenant_id,
        queues=[queue for queue, _ in claimable_by],
        roles=[role for _, role in claimable_by],
        principal_id=principal_id,
        present_within=present_within,
    )


async def lease_counts(conn: Any, *, tenant_id: int) -> list[LeaseCountRow]:
    """Count unresolved items by how often they were leased."""
    return await many(statement("health", "lease_counts"), LeaseCountRow, conn, tenant_id=tenant_id)


async def effect_health(conn: Any, *, tenant_id: int, grace: timedelta) -> EffectHealthRow:
    """Count what is overdue by more than `grace`, and what waits for a score."""
    return await one(
        statement("health", "effect_health"),
        EffectHealthRow,
        conn,
        tenant_id=tenant_id,
        grace=grace,
    )

"""Statements of `sql/queries/claim.sql`: who gets the next item, and what a person holds."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec

from backend.db.statements import many, maybe, statement


class LeaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """One leased item with all that its holder is shown; spans are milliseconds.

    `taken_from` is the person whose token this very grant ended, if there was one; it is the
    claimer himself where the token was in another of his terminals.
    """

    item_pk: int
    content_id: str
    queue: str
    round: int
    source: str
    fence_token: UUID
    claim_key: UUID | None
    terminal: str | None
    expires_in_ms: int
    ttl_ms: int
    lease_count: int
    left_by: int
    abandon_threshold: int
    rank: float
    base: float
    severity: int
    author_followers: int
    waited_ms: int
    sla_age_ms: int
    sla_ms: int
    evidence: str
    evidence_hash: str
    taken_from: int | None = None


class FiguresRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue holds for one person; counts are capped at 10,000."""

    queue: str
    title: str
    free: int
    held: int
    parked: int
    not_for_you: int
    free_in_ms: int | None
    oldest_ms: int | None
    sla_ms: int
    lease_ttl_ms: int
    undo_window_ms: int


class QueueRow(msgspec.Struct, frozen=True, kw_only=True):
    """The name of one queue."""

    queue: str


class PlaceRow(msgspec.Struct, frozen=True, kw_only=True):
    """Which of the questions is answered with yes, counted from 1."""

    place: int


async def claim_next(
    conn: Any,
    *,
    tenant_id: int,
    queue: str,
    principal_id: int,
    claim_key: UUID,
    terminal: str | None = None,
) -> LeaseRow | None:
    """Lease the best item that this person may take; None if there is none, or if he holds one."""
    return await maybe(
        statement("claim", "claim_next"),
        LeaseRow,
        conn,
        tenant_id=tenant_id,
        queue=queue,
        principal_id=principal_id,
        claim_key=claim_key,
        terminal=terminal,
    )


async def find_my_lease(conn: Any, *, principal_id: int) -> LeaseRow | None:
    """Return what this person holds, lapsed or not, or None."""
    return await maybe(
        statement("claim", "find_my_lease"), LeaseRow, conn, principal_id=principal_id
    )


async def queue_figures(
    conn: Any, *, tenant_id: int, queue: str, principal_id: int
) -> FiguresRow | None:
    """Return the figures of a queue, or None if the tenant has no such queue."""
    return await maybe(
        statement("claim", "queue_figures"),
        FiguresRow,
        conn,
        tenant_id=tenant_id,
        queue=queue,
        principal_id=principal_id,
    )


async def fair_order(conn: Any, *, tenant_id: int, queues: list[str]) -> list[str]:
    """Order queues by the share of its SLA that the oldest item on offer in each has used."""
    rows = await many(
        statement("claim", "fair_order"), QueueRow, conn, tenant_id=tenant_id, queues=queues
    )
    return [row.queue for row in rows]


async def find_claimable(
    conn: Any, *, tenant_ids: list[int], queues: list[str], principal_ids: list[int]
) -> list[int]:
    """Return the places, from 0, of the persons and queues for whom and where something waits."""
    rows = await many(
        statement("claim", "find_claimable"),
        PlaceRow,
        conn,
        tenant_ids=tenant_ids,
        queues=queues,
        principal_ids=principal_ids,
    )
    return [row.place - 1 for row in rows]

"""Statements of `sql/queries/item.sql`: items as leads meet them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from backend.db.statements import many, maybe, one, run, statement


class LockedItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that is locked."""

    item_pk: int
    content_pk: int
    queue: str
    state: str
    source: str
    resolution: str | None
    owner: int | None


class LockedContent(msgspec.Struct, frozen=True, kw_only=True):
    """A content that is locked: its state, and where its trail ends."""

    content_pk: int
    content_id: str
    state: str
    seq: int
    chain_head: bytes
    withdrawn_at: datetime | None


class MomentRow(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of the clock."""

    now: datetime


class SettledRow(msgspec.Struct, frozen=True, kw_only=True):
    """What last settled a content."""

    content_pk: int
    outcome: str


class RoundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A content with its newest round, if it ever had one (`item_pk` and what follows).

    `in_line`: its newest decision has not taken effect yet.
    """

    content_pk: int
    content_id: str
    kind: str
    author_followers: int
    submitted_by: int
    state: str
    withdrawn_at: datetime | None
    head_actor: str | None
    in_line: bool
    item_pk: int | None
    queue: str | None
    item_state: str | None
    item_source: str | None
    resolution: str | None
    resolved_at: datetime | None
    severity: int | None
    owner: int | None


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """Where a content stands after a withdrawal or with a new round."""

    content_pk: int
    state: str
    seq: int
    chain_head: bytes
    withdrawn_at: datetime | None


class ItemLineRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a list; `key` is the time by which the list is ordered, if it is by one."""

    item_pk: int
    content_id: str
    queue: str
    round: int
    source: str
    state: str
    rank: float
    severity: int
    age_ms: int
    sla_age_ms: int
    lease_count: int
    left_by: int
    lease_epoch: int
    holder: str | None
    since: datetime | None
    ends_in_ms: int | None
    stuck: bool
    abandoned: bool
    key: datetime | None


class QueueOfItemRow(msgspec.Struct, frozen=True, kw_only=True):
    """The queue that an item is in."""

    queue: str


class LeaseEntryRow(msgspec.Struct, frozen=True, kw_only=True):
    """One happening of an item's leases; `log_pk` is that of the last row in it."""

    log_pk: int
    at: datetime
    happening: str
    lease_epoch: int
    person: str | None
    by: str | None
    reason: str | None
    times: int


async def lock_items(conn: Any, *, tenant_id: int, item_ids: Sequence[int]) -> list[LockedItem]:
    """Lock those of these items that the tenant has, ids ascending."""
    return await many(
        statement("item", "lock_items"),
        LockedItem,
        conn,
        tenant_id=tenant_id,
        item_ids=list(item_ids),
    )


async def lock_contents(conn: Any, *, content_ids: Sequence[int]) -> list[LockedContent]:
    """Lock contents, ids ascending; their items are locked already."""
    return await many(
        statement("item", "lock_contents"), LockedContent, conn, content_ids=list(content_ids)
    )


async def read_moment(conn: Any) -> datetime:
    """Read the database's clock, once for an operation and after its locks."""
    return (await one(statement("item", "read_moment"), MomentRow, conn)).now


async def read_settled(conn: Any, *, content_ids: Sequence[int]) -> dict[int, str]:
    """Return the outcome that last settled each of these contents, for those that have one."""
    rows = await many(
        statement("item", "read_settled"), SettledRow, conn, content_ids=list(content_ids)
    )
    return {row.content_pk: row.outcome for row in rows}


async def read_round(conn: Any, *, tenant_id: int, content_id: str) -> RoundRow | None:
    """Read a content and its newest round; None if the tenant has no such content."""
    return await maybe(
        statement("item", "read_round"), RoundRow, conn, tenant_id=tenant_id, content_id=content_id
    )


async def advance_rounds(conn: Any, rows: Sequence[Settlement]) -> None:
    """Bring contents to where a withdrawal or a new round leaves them."""
    await run(
        statement("item", "advance_rounds"),
        conn,
        content_ids=[row.content_pk for row in rows],
        states=[row.state for row in rows],
        seqs=[row.seq for row in rows],
        chain_heads=[row.chain_head for row in rows],
        withdrawn_ats=[row.withdrawn_at for row in rows],
    )


async def list_waiting(
    conn: Any, *, tenant_id: int, queue: str, rank: float | None, item_id: int, limit: int
) -> list[ItemLineRow]:
    """List what waits, best rank first, behind this rank and id."""
    return await many(
        statement("item", "list_waiting"),
        ItemLineRow,
        conn,
        tenant_id=tenant_id,
        queue=queue,
        rank=rank,
        item_id=item_id,
        limit=limit,
    )


async def list_held(
    conn: Any, *, tenant_id: int, queue: str, at: datetime | None, item_id: int, limit: int
) -> list[ItemLineRow]:
    """List what is leased, by the end of the lease, behind this time and id."""
    return await many(
        statement("item", "list_held"),
        ItemLineRow,
        conn,
        tenant_id=tenant_id,
        queue=queue,
        at=at,
        item_id=item_id,
        limit=limit,
    )


async def list_parked(
    conn: Any, *, tenant_id: int, queue: str, at: datetime | None, item_id: int, limit: int
) -> list[ItemLineRow]:
    """List what is parked, by the time to wake, behind this time and id."""
    return await many(
        statement("item", "list_parked"),
        ItemLineRow,
        conn,
        tenant_id=tenant_id,
        queue=queue,
        at=at,
        item_id=item_id,
        limit=limit,
    )


async def list_stuck(
    conn: Any, *, tenant_id: int, queue: str, item_id: int, limit: int
) -> list[ItemLineRow]:
    """List what enough people left undecided, behind this id."""
    return await many(
        statement("item", "list_stuck"),
        ItemLineRow,
        conn,
        tenant_id=tenant_id,
        queue=queue,
        item_id=item_id,
        limit=limit,
    )


async def list_unclaimable(  # noqa: PLR0913 - whom to leave out, and where to begin
    conn: Any,
    *,
    tenant_id: int,
    queue: str,
    roles: Sequence[str],
    principal_id: int,
    present_within: timedelta,
    rank: float | None,
    item_id: int,
    limit: int,
) -> list[ItemLineRow]:
    """List what waits and nobody present may take, best rank first, behind this rank and id.

    `roles` are those that may claim in this queue.
    """
    return await many(
        statement("item", "list_unclaimable"),
        ItemLineRow,
        conn,
        tenant_id=tenant_id,
        queue=queue,
        roles=list(roles),
        principal_id=principal_id,
        present_within=present_within,
        rank=rank,
        item_id=item_id,
        limit=limit,
    )


async def find_item(conn: Any, *, tenant_id: int, item_id: int) -> str | None:
    """Return the queue of an item; None if the tenant has no such item."""
    row = await maybe(
        statement("item", "find_item"), QueueOfItemRow, conn, tenant_id=tenant_id, item_id=item_id
    )
    return None if row is None else row.queue


async def list_leases(conn: Any, *, item_id: int, after: int, limit: int) -> list[LeaseEntryRow]:
    """List what happened to the leases of an item behind the row `after`, oldest first."""
    return await many(
        statement("item", "list_leases"),
        LeaseEntryRow,
        conn,
        item_id=item_id,
        after=after,
        limit=limit,
    )

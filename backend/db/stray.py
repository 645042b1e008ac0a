"""Statements of `sql/queries/stray.sql`: undecided items in queues that were closed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from backend.db.statements import many, run, statements

_SQL = statements("stray")


class StrayQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A closed queue that holds undecided items, and what took its place."""

    tenant_id: int
    queue: str
    successor: str | None


class Undecided(msgspec.Struct, frozen=True, kw_only=True):
    """How many items of a queue are in one state."""

    queue: str
    state: str
    items: int


class StrayRow(msgspec.Struct, frozen=True, kw_only=True):
    """One locked item, and where the event chain of its content ends."""

    item_pk: int
    tenant: str
    content_pk: int
    content_id: str
    seq: int
    chain_head: bytes
    now: datetime


async def find_strays(conn: Any, limit: int) -> list[StrayQueue]:
    """Name up to `limit` closed queues that hold undecided items."""
    return await many(_SQL["find_strays"], StrayQueue, conn, limit=limit)


async def count_undecided(conn: Any, tenant_id: int, queues: Sequence[str]) -> list[Undecided]:
    """Count what is undecided in these queues; a state without items has no row."""
    return await many(
        _SQL["count_undecided"], Undecided, conn, tenant_id=tenant_id, queues=list(queues)
    )


async def lock_strays(conn: Any, tenant_id: int, queue: str, limit: int) -> list[StrayRow]:
    """Lock up to `limit` undecided items of each state that nobody else has locked."""
    return await many(
        _SQL["lock_strays"], StrayRow, conn, tenant_id=tenant_id, queue=queue, limit=limit
    )


async def bring_strays(conn: Any, item_pks: Sequence[int], queue: str) -> None:
    """Bring locked items to another queue."""
    await run(_SQL["bring_strays"], conn, item_ids=item_pks, queue=queue)

"""Statements of `sql/queries/move.sql`: from one queue to another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from backend.db.statements import many, maybe, statement


class OpenQueueRow(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that takes new items."""

    queue: str


class MovedRow(msgspec.Struct, frozen=True, kw_only=True):
    """An item that was moved."""

    item_pk: int


async def open_queue(conn: Any, *, tenant_id: int, queue: str) -> bool:
    """Tell whether a queue takes new items; if so it does until the transaction ends."""
    found = await maybe(
        statement("move", "open_queue"), OpenQueueRow, conn, tenant_id=tenant_id, queue=queue
    )
    return found is not None


async def move_items(
    conn: Any, *, tenant_id: int, item_ids: Sequence[int], to: str, by: int, now: datetime
) -> list[int]:
    """Move items that are locked; returns those that were unresolved and elsewhere."""
    rows = await many(
        statement("move", "move_items"),
        MovedRow,
        conn,
        tenant_id=tenant_id,
        item_ids=list(item_ids),
        to=to,
        by_principal=by,
        now=now,
    )
    return [row.item_pk for row in rows]

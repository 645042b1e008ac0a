"""Statements of `sql/queries/withdraw.sql`: nobody needs to look any more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from backend.db.statements import many, run, statement


class WithdrawnRow(msgspec.Struct, frozen=True, kw_only=True):
    """An item that was withdrawn."""

    item_pk: int


class InLineRow(msgspec.Struct, frozen=True, kw_only=True):
    """A content whose newest decision is about to take effect."""

    content_pk: int


async def withdraw_items(
    conn: Any, *, tenant_id: int, item_ids: Sequence[int], by: int, now: datetime
) -> list[int]:
    """Resolve items that are locked as withdrawn; returns those that were unresolved."""
    rows = await many(
        statement("withdraw", "withdraw_items"),
        WithdrawnRow,
        conn,
        tenant_id=tenant_id,
        item_ids=list(item_ids),
        by_principal=by,
        now=now,
    )
    return [row.item_pk for row in rows]


async def leave_intake(conn: Any, *, content_pk: int) -> None:
    """Wait no more for the score of a content."""
    await run(statement("withdraw", "leave_intake"), conn, content_id=content_pk)


async def find_in_line(conn: Any, *, content_ids: Sequence[int]) -> set[int]:
    """Return those of these locked contents whose newest decision has not taken effect yet."""
    rows = await many(
        statement("withdraw", "find_in_line"), InLineRow, conn, content_ids=list(content_ids)
    )
    return {row.content_pk for row in rows}

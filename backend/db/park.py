"""Statements of `sql/queries/park.sql`: setting an item aside, and waking it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from backend.db.lease import PlacedRow
from backend.db.statements import many, maybe, run, statement


class ParkableRow(msgspec.Struct, frozen=True, kw_only=True):
    """An item locked by its fence, with its content.

    `parkings` and `rested` say how often this round was set aside, and for how long in all.
    """

    content_pk: int
    content_id: str
    queue: str
    owner: int | None
    seq: int
    chain_head: bytes
    now: datetime
    parkings: int
    rested: timedelta


class AskedRow(msgspec.Struct, frozen=True, kw_only=True):
    """The key of what was asked."""

    question_pk: int


class QuestionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One question; `open`: its item is still set aside for it."""

    question_pk: int
    item_pk: int
    reason: str
    text: str | None
    asked_at: datetime
    wake_at: datetime
    open: bool


async def lock_for_park(
    conn: Any, *, tenant_id: int, item_id: int, fence_token: UUID
) -> ParkableRow | None:
    """Lock an item and its content; None if the token is no longer the fence."""
    return await maybe(
        statement("park", "lock_for_park"),
        ParkableRow,
        conn,
        tenant_id=tenant_id,
        item_id=item_id,
        fence_token=fence_token,
    )


async def park_item(  # noqa: PLR0913 - the fence, what is said, and when
    conn: Any,
    *,
    item_id: int,
    fence_token: UUID,
    principal_id: int,
    reason: str,
    text: str | None,
    now: datetime,
    wake_at: datetime,
) -> AskedRow | None:
    """Set an item aside; None if the token is not the fence, not his, or has run out."""
    return await maybe(
        statement("park", "park_item"),
        AskedRow,
        conn,
        item_id=item_id,
        fence_token=fence_token,
        principal_id=principal_id,
        reason=reason,
        text=text,
        now=now,
        wake_at=wake_at,
    )


async def tell_producer(
    conn: Any, *, question_pk: int, content_pk: int, kind: str, key: str, payload: bytes
) -> None:
    """Queue a question for its way out."""
    await run(
        statement("park", "tell_producer"),
        conn,
        question_id=question_pk,
        content_id=content_pk,
        kind=kind,
        key=key,
        payload=payload,
    )


async def wake_due(conn: Any, *, limit: int) -> list[PlacedRow]:
    """Return up to `limit` items of each queue, whose time has come, to where they wait."""
    return await many(statement("park", "wake_due"), PlacedRow, conn, limit=limit)


async def wake_items(
    conn: Any, *, tenant_id: int, item_ids: Sequence[int], by: int
) -> list[PlacedRow]:
    """Bring items back that are locked; returns those that were parked."""
    return await many(
        statement("park", "wake_items"),
        PlacedRow,
        conn,
        tenant_id=tenant_id,
        item_ids=list(item_ids),
        by_principal=by,
    )


async def questions_of(conn: Any, *, content_pk: int, before: int, limit: int) -> list[QuestionRow]:
    """Read what was asked about a content, newest first, from before this question on."""
    return await many(
        statement("park", "questions_of"),
        QuestionRow,
        conn,
        content_id=content_pk,
        before=before,
        limit=limit,
    )

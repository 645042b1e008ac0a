"""Statements of `sql/queries/apply.sql`: taking effect, each decision once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from backend.db.statements import many, maybe, run, statement


class DueRow(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that is due, with its content locked."""

    decision_pk: int
    attempts: int
    content_pk: int
    tenant: str
    content_id: str
    content_state: str
    head_decision: int | None
    applied_decision: int | None
    content_actor: str | None
    seq: int
    chain_head: bytes
    actor: str
    verdict: str | None
    outcome: str
    outcome_value: str | None
    reason: str | None
    principal_id: int | None
    item_pk: int | None
    supersedes: int | None
    policy_version: str
    model_version: str | None
    now: datetime


class OpenRoundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A content that is before people, and why."""

    content_pk: int
    source: str


class TakenRow(msgspec.Struct, frozen=True, kw_only=True):
    """The key of a decision that was taken out of the line."""

    decision_pk: int


class RoundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A new round of work."""

    tenant_id: int
    item_pk: int
    queue: str
    round: int


class Advance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a content stands after what happened to it; `decided`: an outcome took effect."""

    content_pk: int
    state: str
    actor: str | None
    applied_decision: int | None
    head_decision: int | None
    seq: int
    chain_head: bytes
    decided: bool


class Outgoing(msgspec.Struct, frozen=True, kw_only=True):
    """One message for the outside, under a key that never changes."""

    decision_pk: int
    content_pk: int
    kind: str
    key: str
    payload: bytes


async def lock_due(conn: Any, *, limit: int) -> list[DueRow]:
    """Lock up to `limit` contents with due decisions."""
    return await many(statement("apply", "lock_due"), DueRow, conn, limit=limit)


async def find_open_rounds(conn: Any, *, content_ids: Sequence[int]) -> dict[int, str]:
    """Return why each of these locked contents is before people, for those that are."""
    rows = await many(
        statement("apply", "find_open_rounds"), OpenRoundRow, conn, content_ids=content_ids
    )
    return {row.content_pk: row.source for row in rows}


async def take_pending(conn: Any, *, decision_ids: Sequence[int]) -> set[int]:
    """Take decisions out of the line; returns those that were still in it."""
    rows = await many(
        statement("apply", "take_pending"), TakenRow, conn, decision_ids=list(decision_ids)
    )
    return {row.decision_pk for row in rows}


async def apply_decisions(
    conn: Any,
    results: Sequence[tuple[int, str]],
    advances: Sequence[Advance],
    outgoing: Sequence[Outgoing],
) -> None:
    """Mark decisions (key, result) as applied, move their contents, and queue what goes out.

    The one way in which anything takes effect: in a submission, and in the applier. `advances`
    names each content once, with where it stands at the end.
    """
    await _mark_applied(conn, results)
    await advance_contents(conn, advances)
    if outgoing:
        await _insert_outbox(conn, outgoing)


async def _mark_applied(conn: Any, results: Sequence[tuple[int, str]]) -> None:
    await run(
        statement("apply", "mark_applied"),
        conn,
        decision_ids=[decision for decision, _ in results],
        results=[result for _, result in results],
    )


async def advance_contents(conn: Any, advances: Sequence[Advance]) -> None:
    """Move contents to the state that now holds and to the end of their event chains."""
    await run(
        statement("apply", "advance_contents"),
        conn,
        content_ids=[row.content_pk for row in advances],
        states=[row.state for row in advances],
        actors=[row.actor for row in advances],
        applied_decisions=[row.applied_decision for row in advances],
        head_decisions=[row.head_decision for row in advances],
        seqs=[row.seq for row in advances],
        chain_heads=[row.chain_head for row in advances],
        decided=[row.decided for row in advances],
    )


async def _insert_outbox(conn: Any, rows: Sequence[Outgoing]) -> None:
    await run(
        statement("apply", "insert_outbox"),
        conn,
        decision_ids=[row.decision_pk for row in rows],
        content_ids=[row.content_pk for row in rows],
        kinds=[row.kind for row in rows],
        keys=[row.key for row in rows],
        payloads=[row.payload for row in rows],
    )


async def advance_trail(conn: Any, *, content_pk: int, seq: int, chain_head: bytes) -> None:
    """Move a content to the end of its event chain when nothing else changed."""
    await run(
        statement("apply", "advance_trail"),
        conn,
        content_id=content_pk,
        seq=seq,
        chain_head=chain_head,
    )


async def open_next_round(conn: Any, *, item_pk: int, source: str) -> RoundRow | None:
    """Give an item its next round in the escalation queue of its queue."""
    return await maybe(
        statement("apply", "open_next_round"), RoundRow, conn, item_id=item_pk, source=source
    )


async def put_off(
    conn: Any, *, decision_pk: int, wait: timedelta, last_error: str, dead: bool
) -> None:
    """Try a decision again after `wait`, or give up on it."""
    await run(
        statement("apply", "put_off"),
        conn,
        decision_id=decision_pk,
        wait=wait,
        last_error=last_error,
        dead=dead,
    )

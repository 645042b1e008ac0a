"""Statements of `sql/queries/verdict.sql`: the fence, the decision and its answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from backend.db.statements import maybe, run, statement
from backend.domain.ledger import Event


class ReplyRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a verdict token got; `answer` is JSON, repeated byte for byte."""

    fingerprint: bytes
    decision_id: int
    answer: str
    superseded_by: int | None
    item_pk: int
    queue: str
    content_pk: int
    content_id: str


class FencedRow(msgspec.Struct, frozen=True, kw_only=True):
    """An item and its content, locked by the item's fence, with all that a verdict is judged by.

    All of it was read after the lock was there. While `whole` is false some is missing (None).
    """

    item_pk: int
    content_pk: int
    content_id: str
    queue: str
    source: str
    owner: int
    evidence_revision: int
    evidence_hash: str
    head_decision: int | None
    head_outcome: str | None
    seq: int
    chain_head: bytes
    model_version: str | None
    undo_window: timedelta
    now: datetime
    late_by: timedelta
    whole: bool


class NewDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A person's decision as it is written."""

    item_id: int
    fence_token: UUID
    tenant_id: int
    content_id: int
    principal_id: int
    kind: str
    actor: str
    verdict: str
    outcome: str
    reason: str
    evidence_hash: bytes
    verdict_token: UUID
    supersedes: int | None
    apply_after: datetime
    late_by: timedelta
    seen: int | None
    dwell: timedelta | None
    renderer: str | None
    policy_version: str
    model_version: str | None
    note: str | None


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True):
    """The key of a decision, and when it was recorded."""

    decision_pk: int
    recorded_at: datetime


async def find_verdict_reply(
    conn: Any, *, principal_id: int, verdict_token: UUID
) -> ReplyRow | None:
    """Find the answer that this person's verdict token got."""
    return await maybe(
        statement("verdict", "find_verdict_reply"),
        ReplyRow,
        conn,
        principal_id=principal_id,
        verdict_token=verdict_token,
    )


async def lock_for_verdict(
    conn: Any,
    *,
    tenant_id: int,
    item_id: int,
    fence_token: UUID,
    principal_id: int,
    verdict_token: UUID,
) -> FencedRow | None:
    """Lock item and content by the fence.

    None if the verdict token has its answer already, or else if the token is not the fence.

    A statement sees what was committed when it began: who waited for the lock may find that the
    item shows evidence, or that the chain has a head, that came meanwhile. With the lock held the
    same statement again sees it. Raises LookupError if even then something is missing.
    """
    for _ in range(2):
        row = await maybe(
            statement("verdict", "lock_for_verdict"),
            FencedRow,
            conn,
            tenant_id=tenant_id,
            item_id=item_id,
            fence_token=fence_token,
            principal_id=principal_id,
            verdict_token=verdict_token,
        )
        if row is None or row.whole:
            return row
    raise LookupError("an item lacks its evidence, its queue or the head of its chain")


async def decide_item(conn: Any, decision: NewDecision) -> DecisionRow | None:
    """Resolve the item and write its decision; None if the token is not the fence."""
    return await maybe(
        statement("verdict", "decide_item"),
        DecisionRow,
        conn,
        **{name: getattr(decision, name) for name in decision.__struct_fields__},
    )


async def record_verdict(
    conn: Any,
    decision: NewDecision,
    event: Event,
    *,
    decision_id: int,
    fingerprint: bytes,
    answer: str,
) -> None:
    """Write what a decision leaves: answer, place in line, event, and the head of its chain."""
    await run(
        statement("verdict", "record_verdict"),
        conn,
        principal_id=decision.principal_id,
        verdict_token=decision.verdict_token,
        fingerprint=fingerprint,
        decision_id=decision_id,
        answer=answer,
        content_id=decision.content_id,
        apply_after=decision.apply_after,
        seq=event.seq,
        type=event.type.value,
        prev_hash=event.prev_hash,
        canonical=event.canonical,
        hash=event.hash,
    )

"""Statements of `sql/queries/reopen.sql`: the next round of a content."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from backend.db.statements import maybe, one, statement


class NewRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round to open: where, why, and with what rank it is served."""

    tenant_id: int
    content_pk: int
    queue: str
    source: str
    severity: int
    base: float
    rank: float
    evidence_revision: int
    first_enqueued_at: datetime
    now: datetime


class OpenedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A round that was opened."""

    item_pk: int
    queue: str
    round: int


class ShownRow(msgspec.Struct, frozen=True, kw_only=True):
    """One revision of a content's evidence; None instead of the text once it is erased."""

    evidence_hash: str
    evidence: str | None


async def open_round(conn: Any, new: NewRound) -> OpenedRow | None:
    """Open the next round of a content; None if one is open already."""
    return await maybe(
        statement("reopen", "open_round"),
        OpenedRow,
        conn,
        tenant_id=new.tenant_id,
        content_id=new.content_pk,
        queue=new.queue,
        source=new.source,
        severity=new.severity,
        base=new.base,
        rank=new.rank,
        evidence_revision=new.evidence_revision,
        first_enqueued_at=new.first_enqueued_at,
        now=new.now,
    )


async def read_shown(conn: Any, *, content_pk: int, revision: int) -> ShownRow:
    """Read one revision of a content's evidence, which must be there."""
    return await one(
        statement("reopen", "read_shown"),
        ShownRow,
        conn,
        content_id=content_pk,
        revision=revision,
    )

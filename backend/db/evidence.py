"""Statements of `sql/queries/evidence.sql`: what is shown, revised, built and compared."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from backend.db.statements import maybe, one, run, statements

_SQL = statements("evidence")


class SubmittedRow(msgspec.Struct, frozen=True, kw_only=True):
    """What of a content its producer said once; `asked_queue` is the one that he named."""

    kind: str
    lang: str | None
    author_id: str | None
    author_followers: int
    created_at: datetime | None
    asked_queue: str | None
    is_case: bool


class ToRevise(msgspec.Struct, frozen=True, kw_only=True):
    """A locked content: what decides where new evidence leads, at one moment.

    `escalating`: a verdict sent it up, and the round above has not opened yet. `owner` is that of
    the open item, if there is one.
    """

    now: datetime
    revision: int
    nonce: bytes | None
    fingerprint: bytes | None
    erased: bool
    head_outcome: str | None
    decided_by_person: bool
    escalating: bool
    owner: int | None
    first_enqueued_at: datetime | None


class NewRevision(msgspec.Struct, frozen=True, kw_only=True):
    """A revision as it is stored. JSON is text; `labels` None: it has no scores."""

    content_id: int
    revision: int
    body: str
    nonce: bytes
    fingerprint: bytes
    labels: str | None
    model_version: str | None
    risk_score: Decimal | None
    evidence_hash: bytes
    evidence: bytes
    policy_version: str


class ToShow(msgspec.Struct, frozen=True, kw_only=True):
    """What evidence is built from; `body` and `labels` are JSON text, scores decimal texts."""

    content_id: str
    kind: str
    lang: str | None
    author_id: str | None
    author_followers: int
    created_at: datetime | None
    model_version: str | None
    revision: int
    body: str | None
    is_shown: bool
    is_case: bool
    labels: str | None
    attachments: list[str]


class TwoRevisions(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown now and what was shown before, None where there is none or it was erased."""

    after_hash: str
    after_bytes: bytes | None
    before_revision: int | None
    before_bytes: bytes | None


async def read_submitted(conn: Any, *, tenant_id: int, content_id: str) -> SubmittedRow | None:
    """Read what no revision of a content changes; None if the tenant has none of that id."""
    return await maybe(
        _SQL["read_submitted"], SubmittedRow, conn, tenant_id=tenant_id, content_id=content_id
    )


async def read_to_revise(conn: Any, *, content_pk: int) -> ToRevise:
    """Read what decides where new evidence of a locked content leads."""
    return await one(_SQL["read_to_revise"], ToRevise, conn, content_id=content_pk)


async def insert_revision(conn: Any, revision: NewRevision) -> None:
    """Store the body, the scores and the evidence of a revision, and make it the newest."""
    await run(
        _SQL["insert_revision"],
        conn,
        **{name: getattr(revision, name) for name in revision.__struct_fields__},
    )


async def show_revision(
    conn: Any, *, item_pk: int, revision: int, severity: int, lift: float, now: datetime
) -> None:
    """Let an open item show a revision; `lift` is what its rank gains if nobody holds it."""
    await run(
        _SQL["show_revision"],
        conn,
        item_id=item_pk,
        revision=revision,
        severity=severity,
        lift=lift,
        now=now,
    )


async def read_to_show(conn: Any, *, content_pk: int) -> ToShow:
    """Read what evidence of a content is built from."""
    return await one(_SQL["read_to_show"], ToShow, conn, content_id=content_pk)


async def insert_evidence(
    conn: Any,
    *,
    content_pk: int,
    revision: int,
    evidence_hash: bytes,
    evidence: bytes,
    policy_version: str,
) -> None:
    """Store the evidence of a content that had none."""
    await run(
        _SQL["insert_evidence"],
        conn,
        content_id=content_pk,
        revision=revision,
        evidence_hash=evidence_hash,
        evidence=evidence,
        policy_version=policy_version,
    )


async def read_two_revisions(
    conn: Any, *, content_pk: int, before_hash: bytes, revision: int
) -> TwoRevisions:
    """Read what a content shows now beside what hashes to `before_hash`."""
    return await one(
        _SQL["read_two_revisions"],
        TwoRevisions,
        conn,
        content_id=content_pk,
        before_hash=before_hash,
        revision=revision,
    )

"""Statements of `sql/queries/evidence.sql`: what is shown, revised, built and compared."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from backend.db.statements import maybe, one, run, statements

_SQL = statements("evidence")


class ToRevise(msgspec.Struct, frozen=True, kw_only=True):
    """A content as it was submitted, as far as no revision changes it, and its open item."""

    content_pk: int
    item_pk: int | None
    kind: str
    lang: str | None
    author_id: str | None
    author_followers: int
    created_at: datetime | None
    asked_queue: str | None
    is_case: bool


class Revisable(msgspec.Struct, frozen=True, kw_only=True):
    """A locked content and its open item: all that decides what new evidence leads to.

    `escalating`: a verdict sent it up, and the round above has not opened yet.
    """

    now: datetime
    state: str
    revision: int
    withdrawn: bool
    seq: int
    chain_head: bytes
    nonce: bytes | None
    fingerprint: bytes | None
    erased: bool | None
    decided_by_person: bool | None
    head_outcome: str | None
    escalating: bool | None
    item_pk: int | None
    item_state: str | None
    item_queue: str | None
    item_severity: int | None
    item_owner: int | None
    had_rounds: bool


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


class OpenedRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round that new evidence opened."""

    item_pk: int
    round: int


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


async def find_to_revise(conn: Any, *, tenant_id: int, content_id: str) -> ToRevise | None:
    """Find a content and its open item, without a lock."""
    return await maybe(
        _SQL["find_to_revise"], ToRevise, conn, tenant_id=tenant_id, content_id=content_id
    )


async def lock_to_revise(conn: Any, *, content_pk: int, item_pk: int | None) -> Revisable:
    """Lock the item, then the content, and read how both stand once they are held.

    Three statements, since each sees only what was committed before it began. The content may by
    then have another open item than the one that was locked.
    """
    if item_pk is not None:
        await run(_SQL["lock_shown_item"], conn, item_id=item_pk)
    await run(_SQL["lock_revised_content"], conn, content_id=content_pk)
    return await one(_SQL["read_to_revise"], Revisable, conn, content_id=content_pk)


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


async def open_evidence_round(  # noqa: PLR0913 - the columns of an item
    conn: Any,
    *,
    tenant_id: int,
    content_pk: int,
    queue: str,
    severity: int,
    base: float,
    age_per_minute: float,
    revision: int,
    now: datetime,
) -> OpenedRound:
    """Put a resolved content before people again."""
    return await one(
        _SQL["open_evidence_round"],
        OpenedRound,
        conn,
        tenant_id=tenant_id,
        content_id=content_pk,
        queue=queue,
        severity=severity,
        base=base,
        age_per_minute=age_per_minute,
        revision=revision,
        now=now,
    )


async def advance_revised(  # noqa: PLR0913 - where a content stands afterwards
    conn: Any,
    *,
    content_pk: int,
    state: str,
    opened: bool,
    seq: int,
    chain_head: bytes,
    now: datetime,
) -> None:
    """Move a revised content to the end of its trail and to the state that holds."""
    await run(
        _SQL["advance_revised"],
        conn,
        content_id=content_pk,
        state=state,
        opened=opened,
        seq=seq,
        chain_head=chain_head,
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

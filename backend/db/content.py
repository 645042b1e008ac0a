"""Contents as producers sent them: admitted in batches, found again, and read back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from backend.db.statements import many, maybe, run, statements

_SQL = statements("content")


class NewContent(msgspec.Struct, frozen=True, kw_only=True):
    """One row to admit. JSON is text; hashes and nonces are bytes; what is None is not written.

    `labels`: there is a score. `band` (with `actor`, `outcome`, `explanation`): there is a first
    decision. `queue` (with `source`, `severity`, `base` and the evidence): there is an item.
    """

    content_id: str
    kind: str
    lang: str | None
    author_id: str | None
    author_followers: int
    created_at: datetime | None
    model_version: str | None
    body: str
    nonce: bytes
    fingerprint: bytes
    labels: str | None = None
    incomplete: bool = False
    actor: str | None = None
    outcome: str | None = None
    band: str | None = None
    explanation: str | None = None
    risk_score: Decimal | None = None
    queue: str | None = None
    source: str | None = None
    severity: int | None = None
    base: float | None = None
    evidence_hash: bytes | None = None
    evidence: bytes | None = None


class Admitted(msgspec.Struct, frozen=True, kw_only=True):
    """A content that was new, by its own id and ours; `at` is the moment of the whole batch."""

    content_id: str
    content_pk: int
    at: datetime
    decision_pk: int | None
    item_pk: int | None


class FoundContent(msgspec.Struct, frozen=True, kw_only=True):
    """A content that exists. `nonce` and `fingerprint` are None once its body is erased.

    The `revised_` ones are those of its newest revision, if it was revised.
    """

    content_pk: int
    content_id: str
    state: str
    nonce: bytes | None
    fingerprint: bytes | None
    revised_nonce: bytes | None
    revised_fingerprint: bytes | None
    band: str | None
    queue: str | None
    item_pk: int | None
    is_case: bool


class ChainTip(msgspec.Struct, frozen=True, kw_only=True):
    """Where the event chain of a locked content ends, and the time by the database clock."""

    content_pk: int
    seq: int
    chain_head: bytes
    at: datetime


class Resubmission(msgspec.Struct, frozen=True, kw_only=True):
    """Another body of a content, by the hexadecimal fingerprint that its event holds."""

    content_pk: int
    fingerprint: str


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One content's state in force, the decision behind it, and the one that waits (`recorded_*`).

    `labels` and `explanation` are JSON text; scores are decimal texts.
    """

    content_id: str
    state: str
    seq: int
    model_version: str | None
    policy_version: str | None
    decision_pk: int | None
    kind: str | None
    actor: str | None
    verdict: str | None
    outcome: str | None
    reason: str | None
    band: str | None
    risk_score: str | None
    explanation: str | None
    decision_policy_version: str | None
    decision_model_version: str | None
    decided_at: datetime | None
    withdrawn_at: datetime | None
    labels: str | None
    recorded_pk: int | None
    recorded_kind: str | None
    recorded_verdict: str | None
    recorded_outcome: str | None
    recorded_at: datetime | None
    apply_after: datetime | None


async def admit_contents(
    conn: Any,
    rows: Sequence[NewContent],
    *,
    tenant_id: int,
    principal_id: int,
    policy_version: str,
    age_per_minute: float,
) -> list[Admitted]:
    """Write the rows whose id is new, which must come sorted by `content_id`, each id once.

    Two batches that share ids wait for each other in that one order, so they can't deadlock.
    """
    return await many(
        _SQL["admit_contents"],
        Admitted,
        conn,
        tenant_id=tenant_id,
        principal_id=principal_id,
        policy_version=policy_version,
        age_per_minute=age_per_minute,
        content_ids=[row.content_id for row in rows],
        kinds=[row.kind for row in rows],
        langs=[row.lang for row in rows],
        authors=[row.author_id for row in rows],
        followers=[row.author_followers for row in rows],
        created_ats=[row.created_at for row in rows],
        model_versions=[row.model_version for row in rows],
        bodies=[row.body for row in rows],
        nonces=[row.nonce for row in rows],
        fingerprints=[row.fingerprint for row in rows],
        labels=[row.labels for row in rows],
        incomplete=[row.incomplete for row in rows],
        actors=[row.actor for row in rows],
        outcomes=[row.outcome for row in rows],
        bands=[row.band for row in rows],
        explanations=[row.explanation for row in rows],
        risk_scores=[row.risk_score for row in rows],
        queues=[row.queue for row in rows],
        sources=[row.source for row in rows],
        severities=[row.severity for row in rows],
        bases=[row.base for row in rows],
        evidence_hashes=[row.evidence_hash for row in rows],
        evidences=[row.evidence for row in rows],
    )


async def advance_chains(
    conn: Any, contents: Sequence[int], seqs: Sequence[int], heads: Sequence[bytes]
) -> None:
    """Move contents to the end of their event chains when nothing else about them changed."""
    await run(_SQL["advance_chains"], conn, contents=contents, seqs=seqs, heads=heads)


async def find_contents(
    conn: Any, tenant_id: int, content_ids: Sequence[str]
) -> list[FoundContent]:
    """Read those of these contents that exist."""
    return await many(
        _SQL["find_contents"], FoundContent, conn, tenant_id=tenant_id, content_ids=content_ids
    )


async def lock_chains(conn: Any, contents: Sequence[int]) -> list[ChainTip]:
    """Lock contents, ids ascending, and read where their event chains end."""
    return await many(_SQL["lock_chains"], ChainTip, conn, contents=contents)


async def find_resubmissions(
    conn: Any, contents: Sequence[int], fingerprints: Sequence[str]
) -> list[Resubmission]:
    """Read which of these other bodies have their event already."""
    return await many(
        _SQL["find_resubmissions"],
        Resubmission,
        conn,
        contents=contents,
        fingerprints=fingerprints,
    )


async def read_decision(conn: Any, tenant_id: int, content_id: str) -> DecisionRow | None:
    """Read what became of one content; None if the tenant has none of that id."""
    return await maybe(
        _SQL["read_decision"], DecisionRow, conn, tenant_id=tenant_id, content_id=content_id
    )

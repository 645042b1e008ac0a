"""A verdict: authenticate, replay, fence, evidence, reason, write; in this order.

The statement that fences looks for the verdict token first, and locks nothing that has its answer
already, so that nobody whose click was stored is ever told that his lease is stale. The verdict
commits before the next item is claimed, so that no failed claim can undo it.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TypeAlias
from uuid import UUID

import msgspec

from backend.db.connection import Connection, Database
from backend.db.verdict import (
    DecisionRow,
    FencedRow,
    NewDecision,
    ReplyRow,
    decide_item,
    find_verdict_reply,
    lock_for_verdict,
    record_verdict,
)
from backend.domain.identity import Identity
from backend.domain.model import whole_ms
from backend.domain.policy import Policy
from backend.domain.refusals import (
    Busy,
    Forbidden,
    LeaseHeld,
    NotFound,
    Refusal,
    VerdictConflict,
    WrongOwner,
)
from backend.domain.verdict import Ruling, admit, ruling, too_late
from backend.services.claim import claim, my_lease, queue_of_item, queue_view
from backend.services.lease import item_key, stale
from backend.services.news import News, Tell, depth, nobody
from backend.services.steady import once_more
from backend.services.verdict_change import Changed, read_changed, refusal_of
from backend.services.verdict_trail import event_of, tell_conflict, tell_wrong_owner
from shared.vocabulary import ItemSource, NewsKind, Outcome
from shared.wire.queue import ClaimAnswer, DecisionPart, VerdictAnswer, VerdictRequest

_VERDICT_TOKEN = ("verdict_reply_pkey", "decision_principal_id_verdict_token_key")
"""The keys under which a person's verdict token is used once, also on two items at once."""


class VerdictReply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, and what travels in headers beside it."""

    answer: VerdictAnswer
    replayed: bool
    superseded_by: str | None = None


class _Said(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that stands, its item, and whether this request is its replay."""

    part: DecisionPart
    item_pk: int
    queue: str
    replayed: bool = False
    superseded_by: str | None = None


_Answer: TypeAlias = _Said | Changed | Refusal
"""What a transaction came to; a refusal that is returned, not raised, leaves what it wrote."""


async def verdict(
    db: Database,
    policy: Policy,
    who: Identity,
    item_id: str,
    request: VerdictRequest,
    *,
    tell: Tell = nobody,
) -> VerdictReply:
    """Record what a person said of an item, once; then claim the next if that was asked for.

    Raises StaleLease, WrongOwner, EvidenceChanged, ReasonNotAdmitted, VerdictConflict, Forbidden
    or NotFound; whenever it raises, no verdict was recorded.
    """
    item_pk = item_key(item_id)
    fingerprint = _fingerprint(item_pk, request)

    async def recorded() -> _Answer:
        async with db.transaction() as conn:
            return await _record(conn, policy, who, item_pk, request, fingerprint)

    said = await once_more(recorded, _VERDICT_TOKEN)
    if isinstance(said, Changed):
        raise await refusal_of(said)
    if isinstance(said, Refusal):
        raise said
    if not said.replayed:
        for news in _news(who, said):
            tell(news)
    following = await _next(db, policy, who, said.queue, request, tell)
    return VerdictReply(
        answer=VerdictAnswer(decision=said.part, next=following),
        replayed=said.replayed,
        superseded_by=said.superseded_by,
    )


def _news(who: Identity, said: _Said) -> list[News]:
    """Tell his other terminals that it is done, and everybody that the queue changed."""
    resolved = News(
        kind=NewsKind.ITEM_RESOLVED,
        tenant_id=who.tenant_id,
        queue=said.queue,
        item_pk=said.item_pk,
        principal_id=who.principal_id,
    )
    return [resolved, *depth(who.tenant_id, said.queue)]


async def _replay(
    conn: Connection, who: Identity, request: VerdictRequest, fingerprint: bytes
) -> _Said | VerdictConflict | None:
    """Return what this verdict token has recorded, for ever and whatever came after."""
    row = await find_verdict_reply(
        conn, principal_id=who.principal_id, verdict_token=UUID(request.verdict_token)
    )
    if row is None:
        return None
    if row.fingerprint == fingerprint:
        return _replayed(row)
    await tell_conflict(conn, who, row)
    part = msgspec.json.decode(row.answer, type=DecisionPart)
    return VerdictConflict(
        "the first verdict stands; use a new verdict token for another",
        decision_id=part.decision_id,
        verdict=part.verdict.value,
    )


def _replayed(row: ReplyRow) -> _Said:
    return _Said(
        part=msgspec.json.decode(row.answer, type=DecisionPart),
        item_pk=row.item_pk,
        queue=row.queue,
        replayed=True,
        superseded_by=None if row.superseded_by is None else str(row.superseded_by),
    )


async def _record(
    conn: Connection,
    policy: Policy,
    who: Identity,
    item_pk: int,
    request: VerdictRequest,
    fingerprint: bytes,
) -> _Answer:
    """Fence, judge and write."""
    token = UUID(request.lease_token)
    fenced = await lock_for_verdict(
        conn,
        tenant_id=who.tenant_id,
        item_id=item_pk,
        fence_token=token,
        principal_id=who.principal_id,
        verdict_token=UUID(request.verdict_token),
    )
    if fenced is None:
        # The answer comes first: it was there, or another try of this very verdict held the lock.
        said = await _replay(conn, who, request, fingerprint)
        return said if said is not None else await stale(conn, who, item_pk, token)
    if fenced.owner != who.principal_id:
        await tell_wrong_owner(conn, who, fenced)
        return WrongOwner("the lease is not yours; this was recorded")
    queue = queue_of_item(policy, who, fenced.queue)
    late = too_late(policy, queue, whole_ms(fenced.late_by))
    if late is not None:
        return late
    changed = await read_changed(conn, fenced, request.evidence_hash)
    if changed is not None:
        return changed
    refusal = admit(policy, queue, request.verdict, request.reason)
    if refusal is not None:
        return refusal
    return await _write(conn, policy, who, fenced, request, fingerprint)


async def _write(
    conn: Connection,
    policy: Policy,
    who: Identity,
    fenced: FencedRow,
    request: VerdictRequest,
    fingerprint: bytes,
) -> _Said:
    in_force = None if fenced.head_outcome is None else Outcome(fenced.head_outcome)
    said_so = ruling(request.verdict, ItemSource(fenced.source), in_force)
    decision = _decision(policy, who, request, fenced, said_so)
    row = await decide_item(conn, decision)
    if row is None:
        raise LookupError("the fence was locked and yet did not hold")
    part = _part(request, fenced, decision, row)
    await record_verdict(
        conn,
        decision,
        event_of(who, fenced, decision, row),
        decision_id=row.decision_pk,
        fingerprint=fingerprint,
        answer=msgspec.json.encode(part).decode(),
    )
    return _Said(part=part, item_pk=fenced.item_pk, queue=fenced.queue)


def _decision(
    policy: Policy, who: Identity, request: VerdictRequest, fenced: FencedRow, said: Ruling
) -> NewDecision:
    return NewDecision(
        item_id=fenced.item_pk,
        fence_token=UUID(request.lease_token),
        tenant_id=who.tenant_id,
        content_id=fenced.content_pk,
        principal_id=who.principal_id,
        kind=said.kind.value,
        actor=said.actor.value,
        verdict=said.verdict.value,
        outcome=said.outcome.value,
        reason=request.reason,
        evidence_hash=bytes.fromhex(fenced.evidence_hash),
        verdict_token=UUID(request.verdict_token),
        supersedes=fenced.head_decision,
        apply_after=fenced.now + fenced.undo_window,
        late_by=fenced.late_by,
        seen=request.seen,
        dwell=None if request.dwell_ms is None else timedelta(milliseconds=request.dwell_ms),
        renderer=request.renderer,
        policy_version=policy.version,
        model_version=fenced.model_version,
        note=request.note or None,
    )


def _part(
    request: VerdictRequest, fenced: FencedRow, decision: NewDecision, row: DecisionRow
) -> DecisionPart:
    return DecisionPart(
        decision_id=str(row.decision_pk),
        item_id=str(fenced.item_pk),
        content_id=fenced.content_id,
        verdict=request.verdict,
        outcome=Outcome(decision.outcome),
        reason=request.reason,
        recorded_at=row.recorded_at,
        takes_effect_at=decision.apply_after,
        late_by_ms=whole_ms(fenced.late_by),
    )


async def _next(
    db: Database, policy: Policy, who: Identity, queue: str, request: VerdictRequest, tell: Tell
) -> ClaimAnswer | None:
    """Claim after the verdict: what `who` holds already, else a fresh lease, else the figures.

    None if it was not asked for, and for a queue that he may not work in any more, or that a new
    policy has just replaced: that must not hide what was recorded.
    """
    if request.claim_next is None:
        return None
    try:
        return await claim(
            db, policy, who, queue, request.claim_next, terminal=request.terminal, tell=tell
        )
    except LeaseHeld:
        mine = await my_lease(db, policy, who)
        view = await queue_view(db, policy, who, queue)
        return ClaimAnswer(lease=mine.lease, figures=view.figures)
    except (Forbidden, NotFound, Busy):
        return None


def _fingerprint(item_pk: int, request: VerdictRequest) -> bytes:
    """Return the SHA-256 of what makes two requests the same verdict.

    The lease token in it is random, so that the hash says nothing of the note.
    """
    said = [
        item_pk,
        request.lease_token,
        request.evidence_hash,
        request.verdict,
        request.reason,
        request.note or None,
    ]
    return hashlib.sha256(msgspec.json.encode(said)).digest()

"""Calls to the real services, and their answers in the words of the model: whole seconds, ids."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from backend.domain.identity import Identity
from backend.domain.refusals import (
    EvidenceChanged,
    LeaseHeld,
    Refusal,
    StaleLease,
    VerdictConflict,
)
from backend.services.apply import apply_due
from backend.services.claim import claim, my_lease
from backend.services.lease import release, renew
from backend.services.redrive import redrive
from backend.services.verdict import VerdictReply, verdict
from shared.vocabulary import ReleaseReason, Verdict
from shared.wire.queue import (
    ClaimAnswer,
    Lease,
    QueueFigures,
    ReleaseRequest,
    RenewRequest,
    VerdictRequest,
)
from tests.model.reference import Saying, Told
from tests.support.desk import Desk

T = TypeVar("T")

START = datetime(2030, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def seconds(ms: int) -> int:
    """Return whole seconds; the counted clock knows no others."""
    assert ms % 1000 == 0, ms
    return ms // 1000


def moment(at: datetime) -> int:
    """Return the seconds since the counted clock began."""
    past = at - START
    assert past % SECOND == timedelta(0), at
    return past // SECOND


class Players:
    """What people and workers do at the real desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def claim(self, who: Identity, queue: str, key: str) -> Told:
        answer = await refusable(claim(self.desk.db, self.desk.policy, who, queue, key))
        return answer if isinstance(answer, Told) else claimed(answer)

    async def mine(self, who: Identity) -> Told:
        held = await my_lease(self.desk.db, self.desk.policy, who)
        return Told("nothing", {}) if held.lease is None else shown(held.lease)

    async def renew(self, who: Identity, item: int, token: str) -> Told:
        request = RenewRequest(lease_token=token)
        answer = await refusable(renew(self.desk.db, who, str(item), request))
        if isinstance(answer, Told):
            return answer
        facts = {"left": seconds(answer.expires_in_ms), "capped": answer.capped}
        return Told("renewed", facts)

    async def release(self, who: Identity, item: int, token: str, reason: str) -> Told:
        request = ReleaseRequest(lease_token=token, reason=ReleaseReason(reason))
        answer = await refusable(release(self.desk.db, who, str(item), request))
        return (
            answer if isinstance(answer, Told) else Told("released", {"item": int(answer.item_id)})
        )

    async def verdict(
        self, who: Identity, said: Saying, claim_key: str | None
    ) -> tuple[Told, Told | None]:
        """Say it; return what was told of the verdict, and of the next item."""
        request = request_for(said, claim_key)
        db, policy = self.desk.db, self.desk.policy
        answer = await refusable(verdict(db, policy, who, str(said.item), request))
        if isinstance(answer, Told):
            return answer, None
        following = answer.answer.next
        return decided(answer), None if following is None else claimed(following)

    async def redrive(self) -> Told:
        report = await redrive(self.desk.db)
        facts = {
            "given_back": report.given_back,
            "escalated": report.escalated,
            "stuck": report.stuck,
        }
        return Told("redriven", facts)

    async def apply(self) -> Told:
        return Told("applied", {"count": await apply_due(self.desk.db)})


def request_for(said: Saying, claim_key: str | None = None) -> VerdictRequest:
    return VerdictRequest(
        lease_token=said.lease_token,
        verdict_token=said.verdict_token,
        evidence_hash=said.evidence,
        verdict=Verdict(said.verdict),
        reason=said.reason,
        note=said.note,
        claim_next=claim_key,
    )


async def refusable(work: Awaitable[T]) -> T | Told:
    """Return the answer, or the refusal in the words of the model."""
    try:
        return await work
    except Refusal as refusal:
        return Told(refusal.code.value, _facts(refusal))


def _facts(refusal: Refusal) -> dict[str, Any]:
    extra = refusal.extra
    match refusal:
        case StaleLease() if "late_cap_ms" in extra:
            return {"late_cap": seconds(extra["late_cap_ms"])}
        case StaleLease() if extra:
            return {
                "now": extra["now"],
                "holder": extra["holder"],
                "again": extra["can_reclaim"],
            }
        case LeaseHeld():
            left = seconds(extra["expires_in_ms"])
            return {"item": int(extra["item_id"]), "queue": extra["queue"], "left": left}
        case EvidenceChanged():
            return {"evidence": extra["evidence_hash"]}
        case VerdictConflict():
            return {"decision": int(extra["decision_id"]), "verdict": extra["verdict"]}
        case _:
            return {}


def claimed(answer: ClaimAnswer) -> Told:
    """Return a lease, or the figures that say why there is none."""
    return figures(answer.figures) if answer.lease is None else shown(answer.lease)


def figures(told: QueueFigures) -> Told:
    facts = {
        "free": told.free,
        "held": told.held,
        "not_for_you": told.not_for_you,
        "free_in": None if told.free_in_ms is None else seconds(told.free_in_ms),
        "oldest": None if told.oldest_ms is None else seconds(told.oldest_ms),
    }
    return Told("nothing", facts)


def shown(lease: Lease) -> Told:
    facts = {
        "item": int(lease.item_id),
        "content": lease.content_id,
        "queue": lease.queue,
        "round": lease.round,
        "token": lease.lease_token,
        "left": seconds(lease.expires_in_ms),
        "leases": lease.lease_count,
        "left_by": lease.left_by,
        "rank": lease.rank,
        "evidence": lease.evidence_hash,
    }
    return Told("lease", facts)


def decided(reply: VerdictReply) -> Told:
    part = reply.answer.decision
    facts = {
        "decision": int(part.decision_id),
        "item": int(part.item_id),
        "content": part.content_id,
        "verdict": part.verdict.value,
        "outcome": part.outcome.value,
        "late": seconds(part.late_by_ms),
        "at": moment(part.recorded_at),
        "due": moment(part.takes_effect_at),
        "replayed": reply.replayed,
        "superseded_by": None if reply.superseded_by is None else int(reply.superseded_by),
    }
    return Told("decided", facts)

"""A reviewer by script: reads the evidence as a person gets it, and decides by simple rules."""

from __future__ import annotations

import uuid
from decimal import Decimal

import msgspec

from backend.cli.failure import Failure
from shared.client import FencepostClient
from shared.evidence import Evidence, open_evidence
from shared.reasons import Reason, admitted
from shared.vocabulary import Outcome, Verdict
from shared.wire.queue import ClaimRequest, Lease, VerdictRequest

_CLEAR, _DOUBTFUL = Decimal("0.70"), Decimal("0.40")
_ESCALATE_EVERY = 11
_REPLAY_EVERY = 10
_CASES = (Verdict.APPROVE, Verdict.REJECT, Verdict.APPROVE, Verdict.LIMIT)


class Acknowledged(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict as the server acknowledged it."""

    content_id: str
    decision_id: str
    verdict: Verdict
    outcome: Outcome


async def review(client: FencepostClient, queue: str, count: int) -> list[Acknowledged]:
    """Work `count` items of a queue, each claimed together with the verdict before it.

    Every tenth verdict is sent twice, as after a lost answer. Raises Failure if the queue runs dry,
    if a second sending is not recognised, or if the evidence is not what was hashed.
    """
    reasons = (await client.queue(queue)).reasons
    answer = await client.claim(queue, ClaimRequest(claim_key=_uuid()))
    said: list[Acknowledged] = []
    lease = answer.lease
    while lease is not None:
        is_last = len(said) + 1 >= count
        request = _verdict(lease, reasons, place=len(said) + 1, claim_next=not is_last)
        reply = await client.verdict(lease.item_id, request)
        decision = reply.answer.decision
        if len(said) % _REPLAY_EVERY == 0:
            again = await client.verdict(lease.item_id, request)
            if not again.replayed or again.answer.decision != decision:
                raise Failure("a verdict that was sent twice was not recognised.")
        said.append(
            Acknowledged(
                content_id=decision.content_id,
                decision_id=decision.decision_id,
                verdict=decision.verdict,
                outcome=decision.outcome,
            )
        )
        if is_last:
            return said
        lease = reply.answer.next.lease if reply.answer.next else None
    raise Failure(f"queue {queue} ran dry after {len(said)} of {count} items.")


def _verdict(
    lease: Lease, reasons: tuple[Reason, ...], *, place: int, claim_next: bool
) -> VerdictRequest:
    evidence = open_evidence(lease.evidence, lease.evidence_hash)
    verdict = choose(evidence, place)
    if verdict not in lease.verdicts:
        verdict = Verdict.APPROVE
    return VerdictRequest(
        lease_token=lease.lease_token,
        verdict_token=_uuid(),
        evidence_hash=lease.evidence_hash,
        verdict=verdict,
        reason=_reason(reasons, verdict, lease.queue, evidence.deciding).code,
        seen=100,
        dwell_ms=1000,
        renderer="scripted",
        claim_next=_uuid() if claim_next else None,
    )


def choose(evidence: Evidence, place: int) -> Verdict:
    """Return what the script says of this evidence: by its highest score, or in turn."""
    if place % _ESCALATE_EVERY == 0:
        return Verdict.ESCALATE
    scores = [Decimal(label.score) for label in evidence.labels if label.score is not None]
    if not scores:
        return _CASES[place % len(_CASES)]
    if max(scores) >= _CLEAR:
        return Verdict.REJECT
    return Verdict.LIMIT if max(scores) >= _DOUBTFUL else Verdict.APPROVE


def _reason(
    reasons: tuple[Reason, ...], verdict: Verdict, queue: str, deciding: str | None
) -> Reason:
    """Return the reason of the deciding category if there is one, else the first that fits."""
    fitting = admitted(reasons, verdict, queue)
    if not fitting:
        raise Failure(f"the policy admits no reason for {verdict} in {queue}.")
    return next((one for one in fitting if deciding and one.category == deciding), fitting[0])


def _uuid() -> str:
    return str(uuid.uuid4())

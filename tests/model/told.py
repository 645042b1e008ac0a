"""Answers of the real services in the words of the model: whole seconds, ids."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from backend.domain.refusals import (
    EvidenceChanged,
    InvalidField,
    LeaseHeld,
    Refusal,
    StaleLease,
    VerdictConflict,
)
from backend.services.verdict import VerdictReply
from shared.wire.cockpit import QueueHealth
from shared.wire.evidence import Revised
from shared.wire.item import BulkAnswer, Parked, Reopened, Withdrawn
from shared.wire.queue import ClaimAnswer, ClaimAnyAnswer, Lease, QueueFigures
from tests.model.reference.records import Told

T = TypeVar("T")

START = datetime(2030, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Near(float):
    """A number that equals whatever is a millionth away from it at most."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(float(self) - float(other)) < 1e-6

    def __hash__(self) -> int:
        return super().__hash__()


def seconds(ms: int) -> int:
    """Return whole seconds; the counted clock knows no others."""
    assert ms % 1000 == 0, ms
    return ms // 1000


def moment(at: datetime) -> int:
    """Return the seconds since the counted clock began."""
    past = at - START
    assert past % SECOND == timedelta(0), at
    return past // SECOND


def date(at: int) -> datetime:
    """Return a second of the counted clock as a date."""
    return START + at * SECOND


async def refusable(work: Awaitable[T]) -> T | Told:
    """Return the answer, or the refusal in the words of the model."""
    try:
        return await work
    except Refusal as refusal:
        return Told(refusal.code.value, _facts(refusal))


def _facts(refusal: Refusal) -> dict[str, Any]:
    extra = refusal.extra
    match refusal:
        case StaleLease() if extra:
            return _stale(extra)
        case LeaseHeld():
            left = seconds(extra["expires_in_ms"])
            return {"item": int(extra["item_id"]), "queue": extra["queue"], "left": left}
        case EvidenceChanged():
            return _changed(extra)
        case InvalidField():
            return {"field": refusal.field}
        case VerdictConflict():
            return {"decision": int(extra["decision_id"]), "verdict": extra["verdict"]}
        case _:
            return {}


def kinds(told: Told) -> set[str]:
    """Name what kind of answer this is, as finely as its facts tell it."""
    facts = told.facts
    match told.word:
        case "stale_lease":
            return {f"stale: {facts.get('now', 'too late' if facts else 'not his')}"}
        case "decided":
            return {"replayed" if facts["replayed"] else "decided"}
        case "bulk":
            return {f"bulk: {result}" for _, result in facts["rows"]}
        case "revised":
            return {"reopened by evidence" if facts["reopened"] else f"new: {facts['changed']}"}
        case "redriven":
            return {name for name, count in facts.items() if count}
        case _:
            return {told.word}


def _stale(extra: dict[str, Any]) -> dict[str, Any]:
    if "late_cap_ms" in extra:
        return {"late_cap": seconds(extra["late_cap_ms"])}
    since = extra["since"]
    return {
        "now": extra["now"],
        "since": None if since is None else moment(datetime.fromisoformat(since)),
        "holder": extra["holder"],
        "again": extra["can_reclaim"],
    }


def _changed(extra: dict[str, Any]) -> dict[str, Any]:
    return {
        "evidence": extra["evidence_hash"],
        "revision": extra["evidence_revision"],
        "before": extra["change"].before_revision,
    }


def health(queue: QueueHealth) -> dict[str, Any]:
    return {
        "waiting": queue.waiting,
        "in_review": queue.in_review,
        "lapsed": queue.lapsed,
        "escalating": queue.escalating,
        "stuck": queue.stuck,
        "oldest": None if queue.oldest_ms is None else seconds(queue.oldest_ms),
        "leases": queue.lease_counts,
    }


def claimed(answer: ClaimAnswer) -> Told:
    """Return a lease, or the figures that say why there is none."""
    if answer.lease is not None:
        return shown(answer.lease)
    assert answer.figures is not None
    return Told("nothing", figures(answer.figures))


def claimed_any(answer: ClaimAnyAnswer) -> Told:
    """Return a lease, or the figures of every queue that was asked, in that order."""
    if answer.lease is not None:
        return shown(answer.lease)
    return Told("nothing", {"queues": [figures(each) for each in answer.figures]})


def figures(told: QueueFigures) -> dict[str, Any]:
    return {
        "queue": told.queue,
        "free": told.free,
        "held": told.held,
        "parked": told.parked,
        "not_for_you": told.not_for_you,
        "free_in": None if told.free_in_ms is None else seconds(told.free_in_ms),
        "oldest": None if told.oldest_ms is None else seconds(told.oldest_ms),
    }


def shown(lease: Lease) -> Told:
    facts = {
        "item": int(lease.item_id),
        "content": lease.content_id,
        "queue": lease.queue,
        "round": lease.round,
        "source": lease.source.value,
        "token": lease.lease_token,
        "terminal": lease.terminal,
        "left": seconds(lease.expires_in_ms),
        "leases": lease.lease_count,
        "left_by": lease.left_by,
        "rank": Near(lease.rank),
        "severity": lease.severity,
        "waited": seconds(lease.waited_ms),
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


def parked(answer: Parked) -> Told:
    return Told("parked", {"item": int(answer.item_id), "wakes": moment(answer.wake_at)})


def bulk(answer: BulkAnswer) -> Told:
    rows = [(int(row.item_id), row.result.value) for row in answer.rows]
    assert answer.done == sum(result == "done" for _, result in rows)
    return Told("bulk", {"rows": rows})


def withdrawn(answer: Withdrawn) -> Told:
    facts = {
        "content": answer.content_id,
        "item": None if answer.item_id is None else int(answer.item_id),
        "at": moment(answer.withdrawn_at),
    }
    return Told("withdrawn", facts)


def reopened(answer: Reopened) -> Told:
    facts = {
        "content": answer.content_id,
        "item": int(answer.item_id),
        "queue": answer.queue,
        "round": answer.round,
    }
    return Told("reopened", facts)


def revised(answer: Revised) -> Told:
    facts = {
        "content": answer.content_id,
        "state": answer.state.value,
        "revision": answer.revision,
        "changed": answer.changed,
        "item": None if answer.item_id is None else int(answer.item_id),
        "reopened": answer.reopened,
    }
    return Told("revised", facts)

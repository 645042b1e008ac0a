"""Answers of the server as events of the session; what can't be proven is not shown."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from shared.client import ClientError, Refused
from shared.evidence import EVIDENCE_FORMAT, open_evidence
from shared.problems import Problem
from shared.wire.evidence import EvidenceChange
from shared.wire.queue import Lease
from tui.state.countdown import Renewal, from_answer
from tui.state.events import HeldElsewhere, Leased, NothingFree, NotProven
from tui.state.held import Held, StaleFacts

Arrival = Leased | NotProven | NothingFree | HeldElsewhere
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Moment:
    """When a call left and when its answer was read, and for which terminal."""

    sent: float
    now: float
    terminal: str | None


def arrived(
    lease: Lease, at: Moment, note: str, *, resumed: bool
) -> Leased | NotProven | HeldElsewhere:
    """Prove the evidence against its hash before anything of it is shown.

    A lease that another terminal of mine holds is told of, and not opened here.
    """
    countdown = from_answer(lease.expires_in_ms, lease.ttl_ms, at.sent, at.now)
    if lease.terminal not in (None, at.terminal):
        return HeldElsewhere(lease, countdown)
    try:
        evidence = open_evidence(lease.evidence, lease.evidence_hash)
    except (ValueError, msgspec.DecodeError):
        return NotProven(lease, "What arrived is not what the server hashed. It is not shown.")
    if evidence.format != EVIDENCE_FORMAT:
        return NotProven(lease, f"Evidence of format {evidence.format} is newer than this.")
    return Leased(Held(lease, evidence, countdown, Renewal(renewed_at=at.now), resumed), note)


def words_of(error: ClientError) -> str:
    """Return a failure in one line for a person."""
    if isinstance(error, Refused):
        detail = f" ({error.problem.detail})" if error.problem.detail else ""
        return f"{error.problem.title}{detail}"
    return str(error)


def stale_facts(problem: Problem) -> StaleFacts:
    """Return what the server says of an item that moved on."""
    extra = problem.extra
    return StaleFacts(
        now=str(extra.get("now") or UNKNOWN),
        since=_text(extra.get("since")),
        holder=_text(extra.get("holder")),
        can_reclaim=extra.get("can_reclaim") is True,
    )


def change_told(problem: Problem) -> EvidenceChange | None:
    """Return what the server says has changed; None if it says nothing that can be read."""
    try:
        return msgspec.convert(problem.extra.get("change"), type=EvidenceChange)
    except msgspec.ValidationError:
        return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

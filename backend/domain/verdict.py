"""Whether a verdict may be given, and what it then means: pure, after the fence has held."""

from __future__ import annotations

import msgspec

from backend.domain.policy import Policy
from backend.domain.refusals import ReasonNotAdmitted, Refusal, StaleLease
from backend.domain.states import outcome_of
from shared.vocabulary import Actor, DecisionKind, ItemSource, Outcome, Verdict


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What an admitted verdict writes down as its decision."""

    verdict: Verdict
    outcome: Outcome
    actor: Actor
    kind: DecisionKind


def too_late(policy: Policy, queue: str, late_by_ms: int) -> StaleLease | None:
    """Return the refusal for a verdict that comes too long after its lease ran out.

    It belongs to the fence, before the evidence is looked at. `late_by_ms` is how long ago the
    lease ran out by the database clock (0 or less: it has not).
    """
    terms = policy.queues.get(queue)
    if terms is None or late_by_ms <= terms.late_cap_ms:
        return None
    return StaleLease("the lease ran out too long ago", late_cap_ms=terms.late_cap_ms)


def admit(policy: Policy, queue: str, verdict: Verdict, reason: str) -> Refusal | None:
    """Return why `verdict` with `reason` may not be given in `queue`, or None if it may."""
    terms = policy.queues.get(queue)
    if terms is None:
        return ReasonNotAdmitted("the active policy has no such queue", field="verdict")
    if verdict not in terms.verdicts:
        return ReasonNotAdmitted(
            "this queue does not offer the verdict",
            field="verdict",
            verdicts=[offered.value for offered in terms.verdicts],
        )
    reasons = [offered.code for offered in policy.admitted(queue, verdict)]
    if reason not in reasons:
        return ReasonNotAdmitted("choose one of the reasons", field="reason", reasons=reasons)
    return None


def ruling(verdict: Verdict, source: ItemSource, in_force: Outcome | None) -> Ruling:
    """Return what `verdict` on an item of `source` decides, given the outcome in force.

    Raises IllegalTransition for `uphold` or `overturn` where nothing was decided.
    """
    heard = source is ItemSource.APPEAL
    return Ruling(
        verdict=verdict,
        outcome=outcome_of(verdict, in_force),
        actor=Actor.APPEAL if heard else Actor.REVIEWER,
        kind=DecisionKind.APPEAL if heard else DecisionKind.VERDICT,
    )

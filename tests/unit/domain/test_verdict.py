"""Which verdicts are admitted, and what they rule."""

from __future__ import annotations

import pytest

from backend.domain.refusals import ReasonNotAdmitted, StaleLease
from backend.domain.verdict import Ruling, admit, ruling, too_late
from shared.problems import ProblemCode
from shared.vocabulary import Actor, DecisionKind, ItemSource, Outcome, Verdict
from tests.unit.domain.build import shipped

POLICY = shipped("standard")
CAP = POLICY.queues["posts"].late_cap_ms


@pytest.mark.parametrize(
    ("queue", "verdict", "reason"),
    [
        ("posts", Verdict.APPROVE, "no_violation"),
        ("posts", Verdict.REJECT, "hate_group"),
        ("posts", Verdict.ESCALATE, "policy_gap"),
        ("cases", Verdict.APPROVE, "documents_match"),
        ("cases", Verdict.REJECT, "sanctions_hit"),
        ("escalation", Verdict.REJECT, "sanctions_hit"),
        ("escalation", Verdict.REJECT, "hate_group"),
    ],
)
def test_a_reason_of_the_queue_and_the_verdict_is_admitted(
    queue: str, verdict: Verdict, reason: str
) -> None:
    assert admit(POLICY, queue, verdict, reason) is None


@pytest.mark.parametrize(
    ("queue", "verdict", "reason", "field"),
    [
        ("posts", Verdict.APPROVE, "hate_group", "reason"),  # explains another verdict
        ("posts", Verdict.REJECT, "sanctions_hit", "reason"),  # belongs to another queue
        ("posts", Verdict.REJECT, "because", "reason"),
        ("posts", Verdict.REJECT, "", "reason"),
        ("posts", Verdict.OVERTURN, "no_violation", "verdict"),
        ("escalation", Verdict.ESCALATE, "policy_gap", "verdict"),
        ("nowhere", Verdict.APPROVE, "no_violation", "verdict"),
    ],
)
def test_anything_else_is_refused_and_the_field_is_named(
    queue: str, verdict: Verdict, reason: str, field: str
) -> None:
    refusal = admit(POLICY, queue, verdict, reason)
    assert isinstance(refusal, ReasonNotAdmitted)
    assert (refusal.code, refusal.field) == (ProblemCode.REASON_NOT_ADMITTED, field)


def test_a_refused_reason_is_answered_with_those_that_are_admitted() -> None:
    refusal = admit(POLICY, "posts", Verdict.ESCALATE, "because")
    assert refusal is not None
    assert refusal.extra["reasons"][0] == "policy_gap"
    assert "because" not in str(refusal.problem())


@pytest.mark.parametrize(
    ("late", "stale"), [(-5, False), (0, False), (CAP, False), (CAP + 1, True)]
)
def test_a_verdict_may_be_late_up_to_the_cap(late: int, stale: bool) -> None:
    assert isinstance(too_late(POLICY, "posts", late), StaleLease) is stale


def test_a_verdict_of_a_reviewer_rules_as_a_reviewer() -> None:
    assert ruling(Verdict.REJECT, ItemSource.ENGINE, Outcome.HOLD) == Ruling(
        verdict=Verdict.REJECT,
        outcome=Outcome.REMOVE,
        actor=Actor.REVIEWER,
        kind=DecisionKind.VERDICT,
    )


def test_a_verdict_on_an_appeal_rules_as_an_appeal() -> None:
    ruled = ruling(Verdict.UPHOLD, ItemSource.APPEAL, Outcome.REMOVE)
    assert (ruled.actor, ruled.kind) == (Actor.APPEAL, DecisionKind.APPEAL)
    assert ruled.outcome is Outcome.REMOVE

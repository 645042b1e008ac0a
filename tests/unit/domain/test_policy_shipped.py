"""The policies that ship: what they say, and what a lead may rely on."""

from __future__ import annotations

from decimal import Decimal

import pytest

from backend.domain.policy import Policy, policy_sha256
from shared.vocabulary import Verdict
from tests.unit.domain.build import shipped, shipped_text

STANDARD = shipped("standard")
EXAMPLE = shipped("hate-offensive")
SHIPPED = {
    "standard-2": "2b53b0d368968d1452e90ff3c401123c1a05e15d90f7ff3625328b459967b116",
    "hate-offensive-1": "80965840a3efc4cb0da664f8976af6bbceffd4d0aa7639b6b113904440bc4acc",
}
both = pytest.mark.parametrize("policy", [STANDARD, EXAMPLE], ids=["standard", "example"])


def test_the_standard_policy_has_its_eight_categories() -> None:
    assert {name: c.severity for name, c in STANDARD.categories.items()} == {
        "child_safety": 100,
        "terror": 90,
        "violence": 60,
        "hate": 60,
        "harassment": 40,
        "sexual": 30,
        "offensive": 20,
        "spam": 5,
    }
    closed = {name for name, c in STANDARD.categories.items() if c.fail_closed}
    assert closed == {"child_safety", "terror"}
    assert set(STANDARD.scorers["producer"].categories) == set(STANDARD.categories)


@both
def test_the_bands_are_a_fifth_and_nineteen_twentieths(policy: Policy) -> None:
    for category in policy.categories.values():
        assert (category.low, category.high) == (Decimal("0.20"), Decimal("0.95"))


def test_the_example_has_two_fail_open_categories_that_the_producer_scores() -> None:
    assert {name: c.severity for name, c in EXAMPLE.categories.items()} == {
        "hate": 60,
        "offensive": 20,
    }
    assert not any(c.fail_closed for c in EXAMPLE.categories.values())
    assert EXAMPLE.scorers["producer"].categories == ("hate", "offensive")


def test_kinds_find_their_queues() -> None:
    assert [STANDARD.queue_for(kind) for kind in ("post", "kyc", "payout", "llm_answer")] == [
        "posts",
        "cases",
        "cases",
        "cases",
    ]
    assert STANDARD.queue_for("anything_else") == "posts"


@pytest.mark.parametrize("queue", ["posts", "cases"])
def test_the_terms_of_both_queues(queue: str) -> None:
    terms = STANDARD.queues[queue]
    assert terms.sla_ms == 5 * 60_000
    assert terms.lease_ttl_ms == 180_000
    assert terms.abandon_threshold == 3
    assert terms.undo_window_ms == 10_000
    assert (terms.escalation_queue, terms.escalation_boost) == ("escalation", 10)


def test_escalations_end_in_their_queue() -> None:
    terms = STANDARD.queues["escalation"]
    assert terms.escalation_queue is None
    assert Verdict.ESCALATE not in terms.verdicts
    assert terms.sla_ms > STANDARD.queues["posts"].sla_ms


@both
def test_every_verdict_of_every_queue_has_reasons_that_digits_reach(policy: Policy) -> None:
    for name, queue in policy.queues.items():
        for verdict in queue.verdicts:
            assert policy.admitted(name, verdict)
    for name in set(policy.queues) - {"escalation"}:
        for verdict in policy.queues[name].verdicts:
            assert len(policy.admitted(name, verdict)) <= 9


@both
def test_every_reason_can_be_given_somewhere(policy: Policy) -> None:
    given = {
        reason.code
        for name, queue in policy.queues.items()
        for verdict in queue.verdicts
        for reason in policy.admitted(name, verdict)
    }
    assert given == {reason.code for reason in policy.reasons}


@pytest.mark.parametrize(
    "code",
    ["documents_match", "identity_mismatch", "sanctions_hit", "answer_correct", "answer_unsafe"],
)
def test_cases_have_reasons_of_their_own(code: str) -> None:
    offered = {queue for queue in STANDARD.queues if code in codes(STANDARD, queue)}
    assert offered == {"cases", "escalation"}


def codes(policy: Policy, queue: str) -> list[str]:
    return [reason.code for reason in policy.reasons_for(queue)]


def test_the_comments_tell_a_lead_what_reach_is_worth() -> None:
    assert "only twelve minutes" in shipped_text("standard").replace("\n#     ", " ")


@pytest.mark.parametrize("name", ["standard", "hate-offensive"])
def test_a_shipped_text_that_changes_gets_a_version_of_its_own(name: str) -> None:
    """A database that has the version refuses another text under its name."""
    text = shipped_text(name)
    assert SHIPPED[shipped(name).version] == policy_sha256(text), "raise the version too"

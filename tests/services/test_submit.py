"""The gateway: what a submission becomes, and that it becomes so once."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

import asyncpg
import pytest

from backend.db.connection import Database
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.rank import minutes, rank
from backend.domain.refusals import ContentExists, Forbidden, InvalidField, NotFound
from backend.services.admission import refuse_queue
from backend.services.read import decision
from backend.services.submit import submit, submit_case
from shared.evidence import open_evidence
from shared.vocabulary import Actor, Band, ContentState, Outcome, Role
from tests.support.gateway import SAFE, case, row, somebody, standard
from tests.support.trail import assert_every_chain_is_whole

Admin: TypeAlias = "asyncpg.Connection[Any]"


@pytest.fixture
async def policy(database: Database) -> Policy:
    return await standard(database)


@pytest.fixture
async def producer(database: Database, policy: Policy) -> Identity:  # noqa: ARG001 - after it
    return await somebody(database)


async def test_a_safe_content_is_allowed_in_the_answer_itself(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    (receipt,) = await submit(database, policy, producer, [row("c-1", model_version="m-7")])
    assert (receipt.created, receipt.state, receipt.band) == (
        True,
        ContentState.ALLOWED,
        Band.ALLOW,
    )
    assert (receipt.queue, receipt.item_id) == (None, None)
    view = await decision(database, producer, "c-1")
    assert view.state is ContentState.ALLOWED
    assert (view.outcome, view.actor, view.band) == (Outcome.ALLOW, Actor.MODEL, Band.ALLOW)
    assert (view.policy_version, view.model_version) == (policy.version, "m-7")
    assert view.labels == {name: str(score) for name, score in SAFE.items()}
    assert view.recorded is None
    assert view.decided_at is not None
    assert await admin.fetchval("SELECT result FROM applied") == "applied"
    assert await admin.fetchval("SELECT count(*) FROM outbox WHERE kind = 'webhook'") == 1
    assert await admin.fetchval("SELECT count(*) FROM item") == 0
    assert await admin.fetchval("SELECT count(*) FROM evidence") == 0


async def test_a_harmful_content_is_removed_in_the_answer_itself(
    database: Database, policy: Policy, producer: Identity
) -> None:
    (receipt,) = await submit(database, policy, producer, [row("c-1", {"hate": 0.99})])
    assert (receipt.state, receipt.band) == (ContentState.REMOVED, Band.BLOCK)
    view = await decision(database, producer, "c-1")
    assert view.risk_score == "0.99"
    assert view.explanation is not None
    assert (view.explanation["category"], view.explanation["side"]) == ("hate", "above")


async def test_what_is_unsure_waits_for_people_with_its_evidence_and_rank(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    sent = row("c-1", {"hate": 0.5, "spam": 0.5}, text="hm", author_followers=999)
    (receipt,) = await submit(database, policy, producer, [sent])
    assert (receipt.state, receipt.band) == (ContentState.PENDING, Band.REVIEW)
    assert receipt.queue == policy.queue_for("post")
    item = await admin.fetchrow(
        "SELECT i.*, e.hash, e.bytes FROM item i JOIN evidence e USING (content_id)"
    )
    assert item is not None
    assert str(item["id"]) == receipt.item_id
    assert (item["state"], item["round"], item["source"], item["severity"]) == (
        "queued",
        1,
        "engine",
        policy.categories["hate"].severity,
    )
    assert item["base"] == pytest.approx(60 * 10 + 3)
    expected = rank(item["base"], minutes(item["enqueued_at"]), policy.weights)
    assert item["rank"] == pytest.approx(expected, abs=1e-6)
    assert item["first_enqueued_at"] == item["enqueued_at"]
    shown = open_evidence(item["bytes"].decode(), item["hash"].hex())
    assert (shown.content.text, shown.deciding, shown.policy_version) == (
        "hm",
        "hate",
        policy.version,
    )
    assert {label.category: label.score for label in shown.labels}["spam"] == "0.5"
    view = await decision(database, producer, "c-1")
    assert (view.state, view.outcome, view.band) == (
        ContentState.PENDING,
        Outcome.HOLD,
        Band.REVIEW,
    )
    assert view.decided_at is None


async def test_a_missing_fail_closed_score_holds_the_content_and_is_counted(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    labels = {name: score for name, score in SAFE.items() if name != "child_safety"}
    sent = row("c-1")
    held = type(sent)(
        **{
            **{name: getattr(sent, name) for name in sent.__struct_fields__},
            "labels": {name: sent.labels[name] for name in labels},
        }
    )
    (receipt,) = await submit(database, policy, producer, [held])
    assert (receipt.state, receipt.band, receipt.item_id) == (
        ContentState.PENDING,
        Band.HELD,
        None,
    )
    assert await admin.fetchval("SELECT count(*) FROM intake") == 1
    view = await decision(database, producer, "c-1")
    assert view.explanation is not None
    assert view.explanation["missing"] == ["child_safety"]


async def test_a_batch_is_banded_as_its_scores_say(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    scores = [number / 100 for number in range(101)]
    rows = [row(f"c-{number}", {"spam": score}) for number, score in enumerate(scores)]
    receipts = await submit(database, policy, producer, rows)
    banded = Counter(receipt.band for receipt in receipts)
    assert banded == {
        Band.ALLOW: sum(score < 0.20 for score in scores),
        Band.REVIEW: sum(0.20 <= score <= 0.95 for score in scores),
        Band.BLOCK: sum(score > 0.95 for score in scores),
    }
    stored = await admin.fetch("SELECT band, count(*) FROM decision GROUP BY band")
    assert dict(map(tuple, stored)) == banded
    assert await admin.fetchval("SELECT count(*) FROM item") == banded[Band.REVIEW]


async def test_a_case_goes_to_its_queue_without_a_decision(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    sent = case("kyc-1", kind="kyc", fields={"applicant": "P", "score": "0.62", "n": 4})
    receipt = await submit_case(database, policy, producer, "cases", sent)
    assert (receipt.created, receipt.state, receipt.band, receipt.queue) == (
        True,
        ContentState.PENDING,
        None,
        "cases",
    )
    assert await admin.fetchval("SELECT source FROM item") == "case"
    assert await admin.fetchval("SELECT count(*) FROM decision") == 0
    again = await submit_case(database, policy, producer, "cases", sent)
    assert (again.created, again.same_body, again.item_id) == (False, True, receipt.item_id)
    view = await decision(database, producer, "kyc-1")
    assert (view.state, view.decision_id, view.seq) == (ContentState.PENDING, None, 2)
    await assert_every_chain_is_whole(admin)


async def test_a_case_needs_a_queue_that_exists_and_an_id_that_is_free(
    database: Database, policy: Policy, producer: Identity
) -> None:
    with pytest.raises(NotFound):
        await submit_case(database, policy, producer, "nowhere", case("kyc-1", "nowhere"))
    await submit(database, policy, producer, [row("c-1")])
    with pytest.raises(ContentExists):
        await submit_case(database, policy, producer, "cases", case("c-1"))


async def test_a_queue_that_is_unknown_or_not_the_keys_own_is_refused(
    database: Database, policy: Policy, producer: Identity
) -> None:
    with pytest.raises(InvalidField) as unknown:
        refuse_queue(policy, producer, row("c-1", queue="nowhere"))
    assert unknown.value.field == "queue"
    limited = await somebody(database, Role.PRODUCER, "cases", name="limited")
    refuse_queue(policy, limited, row("c-1", queue="cases"))
    with pytest.raises(Forbidden):
        refuse_queue(policy, limited, row("c-1"))


async def test_a_submission_may_name_the_queue_that_it_waits_in(
    database: Database, policy: Policy, producer: Identity
) -> None:
    sent = row("c-1", {"hate": 0.5}, queue="cases")
    (receipt,) = await submit(database, policy, producer, [sent])
    assert receipt.queue == "cases"


async def test_a_failure_half_way_leaves_nothing_behind(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    await admin.execute("ALTER TABLE event ADD CHECK (seq < 3) NOT VALID")
    with pytest.raises(Exception, match="refused a row"):
        await submit(database, policy, producer, [row("a"), row("b", {"hate": 0.5})])
    for table in ("content", "payload", "score", "decision", "item", "event", "outbox"):
        assert await admin.fetchval(f"SELECT count(*) FROM {table}") == 0, table


async def test_an_unknown_category_holds_what_it_labels(
    database: Database, policy: Policy, producer: Identity
) -> None:
    (receipt,) = await submit(database, policy, producer, [row("c-1", {"astrology": 0.1})])
    assert (receipt.state, receipt.band) == (ContentState.PENDING, Band.HELD)

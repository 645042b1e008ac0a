"""What became of a content, told to whom it concerns: in force, and recorded but not in force."""

from __future__ import annotations

from typing import Any, TypeAlias

import asyncpg
import pytest
from msgspec import structs

from backend.db.connection import Database
from backend.domain.refusals import NotFound
from backend.services import keys
from backend.services.policies import activate, shipped_policy
from backend.services.read import decision
from backend.services.submit import submit
from shared.vocabulary import (
    Actor,
    Band,
    ContentState,
    DecisionKind,
    KeyEnv,
    Outcome,
    Role,
    Verdict,
)
from tests.services.showings import revised, submitted
from tests.support.desk import Desk, set_up_desk
from tests.support.gateway import identified, row, somebody

Admin: TypeAlias = "asyncpg.Connection[Any]"


@pytest.fixture
async def desk(database: Database, admin: Admin) -> Desk:
    return await set_up_desk(database, admin, shipped_policy())


async def test_a_verdict_is_told_as_recorded_until_it_takes_effect(desk: Desk) -> None:
    producer = await somebody(desk.db)
    reviewer = await desk.person("anna")
    await submit(desk.db, desk.policy, producer, [row("c-1", {"hate": 0.5})])
    lease = await desk.lease(reviewer)
    reply = await desk.decide(reviewer, lease, Verdict.REJECT)
    view = await decision(desk.db, producer, "c-1")
    assert (view.state, view.kind) == (ContentState.PENDING, DecisionKind.AUTOMATIC)
    assert view.recorded is not None
    assert view.recorded.decision_id == reply.answer.decision.decision_id
    assert (view.recorded.verdict, view.recorded.outcome) == (Verdict.REJECT, Outcome.REMOVE)
    assert view.recorded.takes_effect_at == reply.answer.decision.takes_effect_at
    assert await desk.apply_all() == 1
    view = await decision(desk.db, producer, "c-1")
    assert (view.state, view.actor, view.verdict) == (
        ContentState.REMOVED,
        Actor.REVIEWER,
        Verdict.REJECT,
    )
    assert view.decision_id == reply.answer.decision.decision_id
    assert (view.recorded, view.band, view.explanation) == (None, None, None)
    assert view.risk_score == "0.5"
    assert view.labels["hate"] == "0.5"


async def test_what_waits_for_people_is_told_with_the_engines_account(desk: Desk) -> None:
    producer = await somebody(desk.db)
    await submit(desk.db, desk.policy, producer, [row("c-1", {"hate": 0.5, "spam": 0.3})])
    view = await decision(desk.db, producer, "c-1")
    assert view.explanation is not None
    assert (view.explanation["category"], view.explanation["score"]) == ("hate", "0.5")
    assert view.explanation["otherwise"] == {"band": "REVIEW", "category": "spam"}
    assert (view.policy_version, view.recorded) == (desk.policy.version, None)


async def test_what_is_shown_of_a_decision_is_what_it_was_made_of(desk: Desk) -> None:
    """Newer scores belong to no decision yet: they do not stand beside an older one's band."""
    producer = await submitted(desk, "c-1", {"hate": 0.1})
    before = await decision(desk.db, producer, "c-1")
    assert (before.band, before.labels["hate"]) == (Band.ALLOW, "0.1")
    await revised(desk, producer, "c-1", {"hate": 0.99})
    after = await decision(desk.db, producer, "c-1")
    assert after.state is ContentState.IN_REVIEW
    assert (after.band, after.labels) == (before.band, before.labels)
    assert after.risk_score == before.risk_score
    anna = await desk.person("anna")
    await desk.decide(anna, await desk.lease(anna), Verdict.REJECT)
    await revised(desk, producer, "c-1", {"hate": 0.2}, text="three")
    await desk.apply_all()
    said = await decision(desk.db, producer, "c-1")
    assert (said.verdict, said.band, said.labels["hate"]) == (Verdict.REJECT, None, "0.99")
    assert said.risk_score is None, "that of what came later is not his"


async def test_what_was_held_without_scores_shows_none_until_it_is_decided(desk: Desk) -> None:
    producer = await somebody(desk.db)
    bare = structs.replace(row("c-1"), labels={})
    await submit(desk.db, desk.policy, producer, [bare])
    await revised(desk, producer, "c-1", {"hate": 0.99})
    view = await decision(desk.db, producer, "c-1")
    assert (view.band, view.labels, view.risk_score) == (Band.HELD, {}, None)


async def test_one_tenant_sees_nothing_of_another(desk: Desk, admin: Admin) -> None:
    mine = await somebody(desk.db)
    other_tenant = await admin.fetchval("INSERT INTO tenant (name) VALUES ('other') RETURNING id")
    policy = await activate(desk.db, other_tenant, shipped_policy())
    key = await keys.create(
        desk.db, "them", "service", Role.PRODUCER, None, KeyEnv.TEST, tenant="other"
    )
    theirs = await identified(desk.db, key)
    assert (theirs.tenant, theirs.tenant_id) == ("other", other_tenant)
    await submit(desk.db, desk.policy, mine, [row("c-1")])
    with pytest.raises(NotFound):
        await decision(desk.db, theirs, "c-1")
    (receipt,) = await submit(desk.db, policy, theirs, [row("c-1", {"hate": 0.99})])
    assert receipt.created
    assert (await decision(desk.db, mine, "c-1")).state is ContentState.ALLOWED
    assert (await decision(desk.db, theirs, "c-1")).state is ContentState.REMOVED
    told = await admin.fetchval(
        "SELECT convert_from(e.canonical, 'UTF8')::jsonb->>'tenant' FROM event e"
        " JOIN content c ON c.id = e.content_id WHERE c.tenant_id = $1",
        other_tenant,
    )
    assert told == "other"


async def test_what_nobody_submitted_is_not_found(desk: Desk) -> None:
    producer = await somebody(desk.db)
    for content_id in ("nope", "", "\x00", "x" * 65, "a b"):
        with pytest.raises(NotFound):
            await decision(desk.db, producer, content_id)

"""New evidence: shown at once, the lease untouched, and nobody decides on what he did not see."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from backend.domain.refusals import (
    EvidenceChanged,
    Forbidden,
    InvalidField,
    NotFound,
)
from backend.services.claim import claim
from backend.services.revise import revise
from backend.services.submit import submit
from shared.vocabulary import Band, NewsKind, Role, Verdict
from tests.services.deeds import LAPSED, Told, history, set_aside, stranger
from tests.services.showings import (
    VIOLENT,
    altered,
    events,
    held,
    opened,
    revised,
    revision,
    shop,
    submitted,
    submitted_case,
    the_item,
)
from tests.support.desk import QUEUE, Desk, new_key
from tests.support.gateway import row
from tests.support.office import change
from tests.support.trail import assert_every_chain_is_whole

HOUR = timedelta(hours=1)


# What is shown


async def test_the_same_lease_shows_the_new_revision_under_the_same_token(desk: Desk) -> None:
    who, ana, told = await submitted(desk), await desk.person("ana"), Told()
    lease = await desk.lease(ana)
    answer = await revised(desk, who, labels={"violence": 0.7}, text="two", tell=told)
    assert (answer.revision, answer.changed, answer.reopened) == (2, True, False)
    assert answer.item_id == lease.item_id
    now = await held(desk, ana)
    assert (now.lease_token, now.item_id) == (lease.lease_token, lease.item_id)
    assert now.evidence_hash != lease.evidence_hash
    shown = opened(now)
    assert (shown.revision, shown.content.text) == (2, "two")
    assert {label.category: label.score for label in shown.labels}["violence"] == "0.7"
    ((kind, to, item),) = [(n.kind, n.principal_id, str(n.item_pk)) for n in told.news]
    assert (kind, to, item) == (NewsKind.EVIDENCE_CHANGED, ana.principal_id, lease.item_id)
    assert await history(desk) == [("grant", 1)]
    await desk.decide(ana, now)


async def test_a_revision_is_stored_whole_beside_what_was_before(desk: Desk) -> None:
    who = await submitted(desk, author_id="u-1", lang="en", fields={"a": 1})
    await revised(desk, who, labels={"hate": 0.4}, model_version="m-2", fields={"b": 2})
    bodies = await desk.admin.fetch("SELECT body::text FROM payload ORDER BY revision")
    assert len(bodies) == 2
    body = await desk.value("SELECT body FROM payload WHERE revision = 2")
    for kept in ('"author_id": "u-1"', '"lang": "en"', '"b": 2', '"hate": "0.4"'):
        assert kept in body
    assert '"a": 1' not in body
    assert await desk.value("SELECT count(*) FROM score WHERE mode = 'acting'") == 2
    assert await desk.value("SELECT count(*) FROM evidence") == 2
    content = await desk.admin.fetchrow("SELECT revision, model_version, risk_score FROM content")
    assert content is not None
    assert (content["revision"], content["model_version"], str(content["risk_score"])) == (
        2,
        "m-2",
        "0.4",
    )
    told = await desk.value(
        "SELECT convert_from(canonical, 'UTF8')::jsonb -> 'data' FROM event"
        " WHERE type = 'evidence.revised'"
    )
    assert '"revision": 2' in told
    assert "two" not in told
    await assert_every_chain_is_whole(desk.admin)


async def test_the_same_body_again_changes_nothing(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    first = await revised(desk, who, expected_revision=1)
    lease = await desk.lease(ana)
    before = await events(desk)
    again = await revised(desk, who, expected_revision=1)
    assert (again.revision, again.changed, again.item_id) == (2, False, first.item_id)
    assert await events(desk) == before
    assert (await held(desk, ana)).evidence_hash == lease.evidence_hash
    back = await revised(desk, who, text="one")
    assert (back.revision, back.changed) == (3, True)


async def test_a_submission_sent_again_is_the_same_body_also_after_a_revision(desk: Desk) -> None:
    who = await submitted(desk)
    await revised(desk, who)
    for text, same in (("one", True), ("two", True), ("three", False)):
        (receipt,) = await submit(desk.db, desk.policy, who, [row("c-1", VIOLENT, text=text)])
        assert (receipt.created, receipt.same_body) == (False, same)


async def test_another_revision_than_the_expected_one_is_told(desk: Desk) -> None:
    who = await submitted(desk)
    await revised(desk, who)
    with pytest.raises(EvidenceChanged) as refused:
        await revised(desk, who, text="three", expected_revision=1)
    assert refused.value.field == "expected_revision"
    assert refused.value.extra["evidence_revision"] == 2
    assert (await revised(desk, who, text="three", expected_revision=2)).revision == 3


async def test_a_policy_alone_never_alters_what_a_live_lease_shows(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    lease = await desk.lease(ana)
    await change(desk, altered("low = 0.20\nhigh = 0.95", "low = 0.60\nhigh = 0.90"))
    assert (await held(desk, ana)).evidence_hash == lease.evidence_hash
    await revised(desk, who, labels={"violence": 0.7})
    shown = opened(await held(desk, ana))
    label = next(label for label in shown.labels if label.category == "violence")
    assert (label.low, label.high, label.band) == ("0.60", "0.90", Band.REVIEW)
    assert shown.policy_version == desk.policy.version


# Who may, and what


async def test_a_revision_is_checked_like_a_submission(desk: Desk) -> None:
    who = await submitted(desk)
    faults: list[tuple[dict[str, Any], str]] = [
        ({"text": "x" * (2**20 + 1)}, "text"),
        ({"text": "\0"}, "text"),
        ({"fields": {"a": 1.5}}, "fields.a"),
        ({"labels": {"hate": 2}}, "labels.hate"),
        ({"model_version": "m" * 65}, "model_version"),
        ({"attachments": ["0" * 64]}, "attachments[0]"),
    ]
    for said, field in faults:
        labels = said.pop("labels", None)
        with pytest.raises(InvalidField) as refused:
            await revised(desk, who, labels=labels, **said)
        assert refused.value.field == field
    assert await desk.value("SELECT revision FROM content") == 1


async def test_a_case_has_neither_labels_nor_a_model(desk: Desk) -> None:
    who = await submitted_case(desk, text="one")
    for said, field in ((None, "labels"), ({}, "model_version")):
        with pytest.raises(InvalidField) as refused:
            await revised(desk, who, "k-1", labels=said, model_version="m-1")
        assert refused.value.field == field
    assert (await revised(desk, who, "k-1", labels={}, text="two")).changed
    ana = await desk.person("ana")
    shown = opened(await desk.lease(ana, "cases"))
    assert (shown.content.text, shown.labels, shown.deciding) == ("two", (), None)


async def test_only_a_producer_of_its_queue_and_tenant_may_revise(desk: Desk) -> None:
    await submitted(desk)
    other = await desk.person("other", Role.PRODUCER, queue="cases")
    with pytest.raises(Forbidden):
        await revised(desk, other)
    with pytest.raises(NotFound):
        await revised(desk, await stranger(desk, Role.PRODUCER))
    for unknown in ("c-2", "not an id", ""):
        with pytest.raises(NotFound):
            await revised(desk, await shop(desk), unknown)
    mine = await desk.person("mine", Role.PRODUCER, queue=QUEUE)
    assert (await revised(desk, mine)).changed


async def test_what_was_erased_shows_nothing_again(desk: Desk) -> None:
    who = await submitted(desk)
    await desk.admin.execute(
        "UPDATE payload SET body = NULL, nonce = NULL, fingerprint = NULL, erased_at = clock()"
    )
    with pytest.raises(InvalidField):
        await revised(desk, who)


# Rank


async def test_what_waits_is_ranked_anew_if_its_severity_changed(desk: Desk) -> None:
    who = await submitted(desk, "c-1")
    await submitted(desk, "c-2")
    before = await desk.admin.fetchrow("SELECT * FROM item WHERE id = 1")
    assert before is not None
    await revised(desk, who, "c-1", labels={"child_safety": 0.5})
    after = await desk.admin.fetchrow("SELECT * FROM item WHERE id = 1")
    assert after is not None
    assert (before["severity"], after["severity"]) == (60, 100)
    assert after["rank"] == pytest.approx(before["rank"] + 400)
    assert after["base"] == pytest.approx(before["base"] + 400)
    await revised(desk, who, "c-2", labels={"spam": 0.5})
    lower = await desk.admin.fetchrow("SELECT * FROM item WHERE id = 2")
    assert lower is not None
    assert lower["severity"] == 5
    assert lower["rank"] < before["rank"]


async def test_what_somebody_holds_keeps_its_rank(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    await desk.lease(ana)
    before = await the_item(desk)
    await revised(desk, who, labels={"child_safety": 0.5})
    after = await the_item(desk)
    assert (after["rank"], after["severity"]) == (before["rank"], before["severity"])
    assert after["evidence_revision"] == 2


async def test_what_a_person_decided_before_keeps_its_rank(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    await desk.decide(ana, await desk.lease(ana), Verdict.ESCALATE)
    await desk.apply_all()
    before = await the_item(desk)
    assert (before["state"], before["queue"]) == ("queued", "escalation")
    await revised(desk, who, labels={"child_safety": 0.5})
    after = await the_item(desk)
    assert (after["rank"], after["evidence_revision"]) == (before["rank"], 2)


# Parked and lapsed


async def test_new_evidence_wakes_what_is_parked_and_its_sla_clock(desk: Desk) -> None:
    who, ana, ben = await submitted(desk), await desk.person("ana"), await desk.person("ben")
    before = await the_item(desk)
    await set_aside(desk, ana, await desk.lease(ana))
    await desk.pass_time(HOUR)
    told = Told()
    answer = await revised(desk, who, tell=told)
    assert (answer.changed, answer.reopened, answer.item_id) == (True, False, "1")
    after = await the_item(desk)
    assert (after["state"], after["parked_at"], after["wake_at"]) == ("queued", None, None)
    assert after["rank"] == before["rank"]
    waited = after["sla_from"] - before["sla_from"]
    assert HOUR <= waited < HOUR + timedelta(seconds=30)
    assert await history(desk) == [("grant", 1), ("park", 1), ("wake", 2)]
    assert await desk.value("SELECT principal_id FROM lease_log WHERE happening = 'wake'") is None
    assert told.queues == [QUEUE]
    assert opened(await desk.lease(ben)).content.text == "two"


async def test_a_lapsed_lease_still_decides_but_on_the_new_evidence_alone(desk: Desk) -> None:
    who, ana, told = await submitted(desk), await desk.person("ana"), Told()
    lease = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    await revised(desk, who, tell=told)
    assert told.news[0].principal_id == ana.principal_id
    with pytest.raises(EvidenceChanged):
        await desk.decide(ana, lease)
    now = await held(desk, ana)
    assert now.lease_token == lease.lease_token
    await desk.decide(ana, now)


async def test_nobody_claims_an_old_revision(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    await revised(desk, who)
    answer = await claim(desk.db, desk.policy, ana, QUEUE, new_key())
    assert answer.lease is not None
    assert opened(answer.lease).revision == 2


async def test_an_item_without_a_stored_body_can_be_revised(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    who = await shop(desk)
    answer = await revise(desk.db, desk.policy, who, "c-1", revision())
    assert (answer.changed, answer.revision) == (True, 2)
    with pytest.raises(EvidenceChanged):
        await desk.decide(ana, lease)

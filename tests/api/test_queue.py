"""The reviewer's calls over HTTP: claim, renew, release, verdict and its replay."""

from __future__ import annotations

import uuid
from typing import Any

import msgspec
import pytest

from shared.evidence import open_evidence
from shared.vocabulary import Role
from shared.wire.queue import ClaimAnswer, Lease, Me, MyLease, QueueView, Renewed, VerdictAnswer
from tests.support.api import Api, problem
from tests.support.gateway import body


@pytest.fixture
async def lease(api: Api) -> Lease:
    """Two items wait, and a reviewer holds the more severe one."""
    await api.post("/v1/content", body("c-1", {"hate": 0.5}, text="hm"))
    await api.post("/v1/content", body("c-2", {"spam": 0.5}))
    answer = await claimed(api)
    assert answer.lease is not None
    return answer.lease


async def claimed(api: Api, key: str | None = None) -> ClaimAnswer:
    sent = msgspec.json.encode({"claim_key": key or str(uuid.uuid4())})
    response = await api.post("/v1/queues/posts/claim", sent, role=Role.REVIEWER)
    assert response.status_code == 200, response.text
    return msgspec.json.decode(response.content, type=ClaimAnswer)


def verdict_on(lease: Lease, **changed: Any) -> bytes:
    return msgspec.json.encode(
        {
            "lease_token": lease.lease_token,
            "verdict_token": str(uuid.uuid4()),
            "evidence_hash": lease.evidence_hash,
            "verdict": "approve",
            "reason": "no_violation",
            **changed,
        }
    )


async def test_a_claim_shows_what_was_submitted_and_hashed(lease: Lease) -> None:
    assert lease.content_id == "c-1"
    shown = open_evidence(lease.evidence, lease.evidence_hash)
    assert (shown.content.text, shown.deciding) == ("hm", "hate")


async def test_the_same_claim_key_returns_the_same_lease(api: Api) -> None:
    await api.post("/v1/content", body("c-1", {"hate": 0.5}))
    key = str(uuid.uuid4())
    first, again = await claimed(api, key), await claimed(api, key)
    assert first.lease is not None
    assert again.lease is not None
    assert first.lease.lease_token == again.lease.lease_token


async def test_a_lease_can_be_found_again_and_renewed_and_released(api: Api, lease: Lease) -> None:
    mine = await api.get("/v1/me/lease", role=Role.REVIEWER)
    found = msgspec.json.decode(mine.content, type=MyLease).lease
    assert found is not None
    assert found.lease_token == lease.lease_token
    token = msgspec.json.encode({"lease_token": lease.lease_token})
    renewed = await api.post(f"/v1/items/{lease.item_id}/renew", token, role=Role.REVIEWER)
    assert msgspec.json.decode(renewed.content, type=Renewed).expires_in_ms > 0
    reason = msgspec.json.encode({"lease_token": lease.lease_token, "reason": "need_time"})
    path = f"/v1/items/{lease.item_id}/release"
    for _ in range(2):
        released = await api.post(path, reason, role=Role.REVIEWER)
        assert (released.status_code, released.json()) == (200, {"item_id": lease.item_id})
    told = problem(
        await api.post(f"/v1/items/{lease.item_id}/renew", token, role=Role.REVIEWER),
        409,
        "stale_lease",
    )
    assert told["extra"]["now"] == "free"


async def test_a_verdict_is_answered_and_its_retry_gets_the_same_bytes(
    api: Api, lease: Lease
) -> None:
    sent = verdict_on(lease)
    path = f"/v1/items/{lease.item_id}/verdict"
    first = await api.post(path, sent, role=Role.REVIEWER)
    assert first.status_code == 200, first.text
    assert "fencepost-replayed" not in first.headers
    again = await api.post(path, sent, role=Role.REVIEWER)
    assert again.status_code == 200
    assert again.headers["fencepost-replayed"] == "true"
    assert "fencepost-superseded-by" not in again.headers
    assert again.content == first.content
    view = (await api.get("/v1/content/c-1/decision")).json()
    decision = msgspec.json.decode(first.content, type=VerdictAnswer).decision
    assert view["state"] == "pending"
    assert view["recorded"]["decision_id"] == decision.decision_id
    assert view["recorded"]["verdict"] == "approve"


async def test_a_verdict_may_claim_the_next_item_in_the_same_request(
    api: Api, lease: Lease
) -> None:
    sent = verdict_on(lease, claim_next=str(uuid.uuid4()))
    answer = await api.post(f"/v1/items/{lease.item_id}/verdict", sent, role=Role.REVIEWER)
    following = msgspec.json.decode(answer.content, type=VerdictAnswer).next
    assert following is not None
    assert following.lease is not None
    assert following.lease.content_id == "c-2"


async def test_another_verdict_with_the_same_token_is_a_conflict(api: Api, lease: Lease) -> None:
    token = str(uuid.uuid4())
    path = f"/v1/items/{lease.item_id}/verdict"
    sent = verdict_on(lease, verdict_token=token)
    assert (await api.post(path, sent, role=Role.REVIEWER)).status_code == 200
    other = verdict_on(lease, verdict_token=token, verdict="reject", reason="hate_group")
    problem(await api.post(path, other, role=Role.REVIEWER), 409, "verdict_conflict")


async def test_a_verdict_names_the_field_that_is_wrong(api: Api, lease: Lease) -> None:
    path = f"/v1/items/{lease.item_id}/verdict"
    for field, value in (
        ("verdict", "guess"),
        ("lease_token", "x"),
        ("evidence_hash", "00"),
        ("seen", 101),
        ("dwell_ms", -1),
        ("note", "x" * 4001),
        ("note", "a\x00b"),
        ("renderer", "x" * 65),
        ("renderer", "\x00"),
        ("reviewer_id", 1),
    ):
        sent = verdict_on(lease, **{field: value})
        problem(await api.post(path, sent, role=Role.REVIEWER), 422, "invalid_field", field)
    for unknown in ("nonsense", "a\x00b"):
        wrong = verdict_on(lease, reason=unknown)
        answer = await api.post(path, wrong, role=Role.REVIEWER)
        problem(answer, 409, "reason_not_admitted", "reason")


async def test_an_item_that_does_not_exist_is_404(api: Api) -> None:
    token = msgspec.json.encode({"lease_token": str(uuid.uuid4())})
    for item_id in ("999", "x", "-1", "9" * 30):
        response = await api.post(f"/v1/items/{item_id}/renew", token, role=Role.REVIEWER)
        problem(response, 404, "not_found", "item_id")


async def test_me_and_the_queue_tell_what_a_person_may_work_in(api: Api, lease: Lease) -> None:
    me = msgspec.json.decode((await api.get("/v1/me", role=Role.REVIEWER)).content, type=Me)
    assert me.roles == (Role.REVIEWER,)
    assert "posts" in [queue.queue for queue in me.queues]
    response = await api.get("/v1/queues/posts", role=Role.REVIEWER)
    view = msgspec.json.decode(response.content, type=QueueView)
    assert (view.figures.free, view.figures.held) == (1, 1)
    assert view.reasons
    producer = msgspec.json.decode((await api.get("/v1/me")).content, type=Me)
    assert producer.queues == ()
    assert lease.queue == "posts"


async def test_health_and_readiness_answer(api: Api) -> None:
    assert (await api.get("/healthz", role=None)).json() == {"status": "ok"}
    assert (await api.get("/readyz", role=None)).json() == {"status": "ready"}
    health = await api.get("/v1/health", role=Role.LEAD)
    assert {queue["queue"] for queue in health.json()["queues"]} >= {"posts", "cases"}

"""Parking, questions, take-over and take-back over HTTP."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import msgspec
import pytest

from backend.db.connection import Database
from shared.vocabulary import Role
from shared.wire.item import Parked, Questions, TakenBack
from shared.wire.queue import ClaimAnswer, Lease, MyLease
from tests.support.api import Api, problem
from tests.support.gateway import body, key_for

SOON = (datetime.now(UTC) + timedelta(days=1)).isoformat()


@pytest.fixture
async def lease(api: Api) -> Lease:
    """One item waits no longer: a reviewer holds it."""
    await api.post("/v1/content", body("c-1", {"hate": 0.5}))
    claim = msgspec.json.encode({"claim_key": str(uuid.uuid4()), "terminal": "first"})
    response = await api.post("/v1/queues/posts/claim", claim, role=Role.REVIEWER)
    answer = msgspec.json.decode(response.content, type=ClaimAnswer)
    assert answer.lease is not None
    return answer.lease


def parking(lease: Lease, **said: Any) -> bytes:
    return json.dumps(
        {"lease_token": lease.lease_token, "reason": "await_producer", **said}
    ).encode()


async def test_what_a_reviewer_asks_the_producer_reads_and_a_retry_asks_once(
    api: Api, lease: Lease
) -> None:
    path, sent = f"/v1/items/{lease.item_id}/park", parking(lease, until=SOON, question="whose?")
    first = await api.post(path, sent, role=Role.REVIEWER)
    assert first.status_code == 200, first.text
    parked = msgspec.json.decode(first.content, type=Parked)
    assert parked.wake_at == datetime.fromisoformat(SOON)
    again = await api.post(path, sent, role=Role.REVIEWER)
    assert (again.status_code, again.content) == (200, first.content)
    for role in (Role.PRODUCER, Role.LEAD):
        answer = await api.get("/v1/content/c-1/questions", role=role)
        (question,) = msgspec.json.decode(answer.content, type=Questions).questions
        assert (question.text, question.open, question.item_id) == ("whose?", True, lease.item_id)
    for wrong in ("after=x", "after=x&after=x"):
        answer = await api.get(f"/v1/content/c-1/questions?{wrong}")
        problem(answer, 422, "invalid_field", "after")
    problem(await api.get("/v1/content/c-2/questions"), 404, "not_found", "content_id")
    problem(await api.get("/v1/content/c-1/questions", role=Role.REVIEWER), 403, "forbidden")


async def test_a_parking_names_the_field_that_is_wrong(api: Api, lease: Lease) -> None:
    path = f"/v1/items/{lease.item_id}/park"
    for field, value in (
        ("until", "tomorrow"),
        ("until", "2030-01-01T00:00:00"),
        ("until", "0001-01-01T00:00:00Z"),
        ("until", "9999-12-31T23:59:59Z"),
        ("question", ""),
        ("question", "x" * 2001),
        ("question", "a\x00b"),
        ("reason", "need_time"),
        ("lease_token", "x"),
        ("wake_at", SOON),
    ):
        sent = parking(lease, **{field: value})
        problem(await api.post(path, sent, role=Role.REVIEWER), 422, "invalid_field", field)
    held = await api.get("/v1/me/lease", role=Role.REVIEWER)
    assert msgspec.json.decode(held.content, type=MyLease).lease is not None


async def test_a_hostile_question_is_kept_as_it_was_written(api: Api, lease: Lease) -> None:
    hostile = "\u202e\x1b[2J'; DROP TABLE item; --\U0001f600\n"
    path = f"/v1/items/{lease.item_id}/park"
    assert (
        await api.post(path, parking(lease, question=hostile), role=Role.REVIEWER)
    ).status_code == 200
    answer = await api.get("/v1/content/c-1/questions")
    (question,) = msgspec.json.decode(answer.content, type=Questions).questions
    assert question.text == hostile


async def test_the_second_terminal_takes_over_and_the_first_is_told(api: Api, lease: Lease) -> None:
    assert lease.terminal == "first"
    key = str(uuid.uuid4())
    sent = msgspec.json.encode({"claim_key": key, "terminal": "second"})
    leases = []
    for _ in range(2):
        answer = await api.post("/v1/me/lease/take-over", sent, role=Role.REVIEWER)
        assert answer.status_code == 200, answer.text
        taken = msgspec.json.decode(answer.content, type=MyLease).lease
        assert taken is not None
        leases.append(taken)
    assert leases[0].lease_token == leases[1].lease_token != lease.lease_token
    assert leases[0].terminal == "second"
    token = msgspec.json.encode({"lease_token": lease.lease_token})
    renewed = await api.post(f"/v1/items/{lease.item_id}/renew", token, role=Role.REVIEWER)
    told = problem(renewed, 409, "stale_lease")
    assert told["extra"]["now"] == "taken_over"
    nothing = await api.post("/v1/me/lease/take-over", sent, role=Role.LEAD)
    assert nothing.json() == {"lease": None}
    for terminal in ("", "a b", "x" * 65, "\x1b[2J"):
        wrong = msgspec.json.encode({"claim_key": key, "terminal": terminal})
        response = await api.post("/v1/me/lease/take-over", wrong, role=Role.REVIEWER)
        problem(response, 422, "invalid_field", "terminal")


async def test_a_lead_takes_back_the_lease_that_he_saw(
    api: Api, lease: Lease, admin: asyncpg.Connection[Any]
) -> None:
    epoch = await admin.fetchval("SELECT lease_epoch FROM item")
    path = f"/v1/items/{lease.item_id}/take-back"
    sent = msgspec.json.encode({"lease_epoch": epoch, "reason": "holder_away"})
    for _ in range(2):
        response = await api.post(path, sent, role=Role.LEAD)
        assert response.status_code == 200, response.text
        taken = msgspec.json.decode(response.content, type=TakenBack)
        assert taken == TakenBack(item_id=lease.item_id, holder="reviewer-1"), taken
    other = msgspec.json.encode({"lease_epoch": epoch + 1, "reason": "holder_away"})
    told = problem(await api.post(path, other, role=Role.LEAD), 409, "stale_lease", "lease_epoch")
    assert told["extra"]["now"] == "free"
    token = msgspec.json.encode({"lease_token": lease.lease_token})
    renewed = await api.post(f"/v1/items/{lease.item_id}/renew", token, role=Role.REVIEWER)
    assert problem(renewed, 409, "stale_lease")["extra"]["now"] == "taken_back"


async def test_a_take_back_names_the_field_that_is_wrong(api: Api, lease: Lease) -> None:
    path = f"/v1/items/{lease.item_id}/take-back"
    for field, value in (("lease_epoch", -1), ("lease_epoch", 2**63), ("reason", "undo")):
        sent = msgspec.json.encode({"lease_epoch": 1, "reason": "mistake", field: value})
        problem(await api.post(path, sent, role=Role.LEAD), 422, "invalid_field", field)


async def test_a_lead_of_another_queue_takes_nothing_back(
    api: Api, lease: Lease, database: Database
) -> None:
    api.keys[Role.AUDITOR] = await key_for(database, Role.LEAD, "cases", name="limited")
    sent = msgspec.json.encode({"lease_epoch": 1, "reason": "mistake"})
    path = f"/v1/items/{lease.item_id}/take-back"
    problem(await api.post(path, sent, role=Role.AUDITOR), 403, "forbidden", "item_id")


@pytest.mark.parametrize("reason", ["undo", "take_back"])
async def test_nobody_gives_an_item_back_in_the_houses_own_words(
    api: Api, lease: Lease, reason: str
) -> None:
    sent = msgspec.json.encode({"lease_token": lease.lease_token, "reason": reason})
    response = await api.post(f"/v1/items/{lease.item_id}/release", sent, role=Role.REVIEWER)
    problem(response, 422, "invalid_field", "reason")

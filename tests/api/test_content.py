"""Submitting over HTTP: one content, a batch, a case, and what became of them."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import asyncpg
import msgspec

from shared.vocabulary import Role
from shared.wire.content import BatchReceipt, DecisionView, Receipt
from tests.support.api import NDJSON, Api, problem
from tests.support.gateway import SAFE, body

Admin: TypeAlias = "asyncpg.Connection[Any]"


async def test_a_new_content_is_201_and_a_known_one_200(api: Api) -> None:
    sent = body("c-1", {"hate": 0.5}, text="hm")
    new = await api.post("/v1/content", sent)
    assert new.status_code == 201
    receipt = msgspec.json.decode(new.content, type=Receipt)
    assert (receipt.created, receipt.state, receipt.band) == (True, "pending", "REVIEW")
    known = await api.post("/v1/content", sent)
    assert known.status_code == 200
    again = msgspec.json.decode(known.content, type=Receipt)
    assert (again.created, again.same_body, again.item_id) == (False, True, receipt.item_id)
    other = await api.post("/v1/content", body("c-1", text="something else"))
    assert other.status_code == 200
    assert msgspec.json.decode(other.content, type=Receipt).same_body is False


async def test_get_decision_tells_the_state_that_the_receipt_told(api: Api) -> None:
    for content_id, labels, state in (
        ("safe", {}, "allowed"),
        ("bad", {"hate": 0.99}, "removed"),
        ("hm", {"hate": 0.5}, "pending"),
    ):
        told = await api.post("/v1/content", body(content_id, labels))
        assert told.json()["state"] == state
        answer = await api.get(f"/v1/content/{content_id}/decision")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
        assert msgspec.json.decode(answer.content, type=DecisionView).state == state


async def test_a_content_that_nobody_submitted_is_404(api: Api) -> None:
    problem(await api.get("/v1/content/nope/decision"), 404, "not_found", "content_id")
    problem(await api.get("/v1/content/%00/decision"), 404, "not_found", "content_id")


async def test_an_id_with_every_allowed_mark_can_be_asked_for(api: Api) -> None:
    content_id = "A.b_c:d~e-9"
    assert (await api.post("/v1/content", body(content_id))).status_code == 201
    assert (await api.get(f"/v1/content/{content_id}/decision")).status_code == 200


async def test_a_batch_answers_each_row_in_its_place_and_bad_rows_fail_alone(
    api: Api, admin: Admin
) -> None:
    rows = [
        body("c-1"),
        b'{"content_id":"c-2","labels":{"hate":1.5}}',
        body("c-3", {"hate": 0.5}),
        b'"no object"',
        body("c-1"),
        b'{"content_id":"c-4","labels":{"hate":0.1,"hate":0.9}}',
        b'{"content_id":"c-5","queue":"nowhere"}',
        b'{"content_id":"c-6","shoe_size":44}',
    ]
    answer = await api.post("/v1/content:batch", b"[" + b",".join(rows) + b"]")
    assert answer.status_code == 200
    receipt = msgspec.json.decode(answer.content, type=BatchReceipt)
    assert (receipt.created, receipt.known, receipt.refused) == (2, 1, 5)
    told = [(row.problem.code, row.problem.field) if row.problem else None for row in receipt.rows]
    assert told == [
        None,
        ("invalid_field", "labels.hate"),
        None,
        ("invalid_field", ""),
        None,
        ("duplicate_key", "labels.hate"),
        ("invalid_field", "queue"),
        ("invalid_field", "shoe_size"),
    ]
    for index, row in enumerate(receipt.rows):
        if row.problem:
            assert row.problem.extra["index"] == index
    assert await admin.fetchval("SELECT count(*) FROM content") == 2


async def test_a_batch_may_come_as_ndjson(api: Api) -> None:
    lines = [body("c-1"), b"", body("c-2"), b"{broken", b'{"content_id": NaN}', body("c-1")]
    answer = await api.post("/v1/content:batch", b"\r\n".join(lines) + b"\n", headers=NDJSON)
    assert answer.status_code == 200
    receipt = msgspec.json.decode(answer.content, type=BatchReceipt)
    assert (receipt.created, receipt.known, receipt.refused) == (2, 1, 2)
    told = [row.problem.code if row.problem else None for row in receipt.rows]
    assert told == [None, None, "malformed", "invalid_field", None]


async def test_a_row_that_is_no_json_fails_alone_in_an_array_too(api: Api) -> None:
    rows = [body("c-1"), b'{"content_id":"c-2","labels":{"hate":NaN}}', body("c-3")]
    answer = await api.post("/v1/content:batch", b" [" + b" , ".join(rows) + b"]\n")
    receipt = msgspec.json.decode(answer.content, type=BatchReceipt)
    assert (receipt.created, receipt.refused) == (2, 1)
    refused = receipt.rows[1].problem
    assert refused is not None
    assert (refused.code, refused.field, refused.extra["index"]) == (
        "invalid_field",
        "labels.hate",
        1,
    )


async def test_a_batch_that_is_no_array_is_refused_whole(api: Api) -> None:
    told = problem(await api.post("/v1/content:batch", b'{"rows":[]}'), 422, "invalid_field")
    assert told["detail"].startswith("an array of submissions")
    for broken in (b"", b"[", b"[1,", b"[1}", b"[1] x", b"\xff"):
        problem(await api.post("/v1/content:batch", broken), 400, "malformed")
    empty = await api.post("/v1/content:batch", b"[]")
    assert empty.json() == {"rows": [], "created": 0, "known": 0, "refused": 0}


async def test_a_thousand_rows_are_a_batch_and_one_more_is_not(api: Api, admin: Admin) -> None:
    rows = [body(f"c-{number}") for number in range(1001)]
    too_many = await api.post("/v1/content:batch", b"[" + b",".join(rows) + b"]")
    problem(too_many, 413, "too_large")
    answer = await api.post("/v1/content:batch", b"[" + b",".join(rows[:1000]) + b"]")
    assert answer.json()["created"] == 1000
    assert await admin.fetchval("SELECT count(*) FROM content") == 1000
    assert await admin.fetchval("SELECT count(*) FROM applied") == 1000


async def test_a_case_goes_into_the_queue_that_the_path_names(api: Api, admin: Admin) -> None:
    sent = json.dumps({"content_id": "kyc-1", "kind": "kyc", "fields": {"n": 1}}).encode()
    answer = await api.post("/v1/queues/cases/items", sent)
    assert answer.status_code == 201
    assert answer.json()["queue"] == "cases"
    assert (await api.post("/v1/queues/cases/items", sent)).status_code == 200
    assert await admin.fetchval("SELECT source FROM item") == "case"
    problem(await api.post("/v1/queues/nowhere/items", sent), 404, "not_found", "queue")
    taken = await api.post("/v1/content", body("c-1"))
    assert taken.status_code == 201
    again = await api.post("/v1/queues/cases/items", b'{"content_id":"c-1"}')
    problem(again, 409, "content_exists", "content_id")


async def test_a_case_has_no_scores(api: Api) -> None:
    sent = json.dumps({"content_id": "kyc-1", "labels": SAFE}).encode()
    refused = await api.post("/v1/queues/cases/items", sent)
    problem(refused, 422, "invalid_field", "labels")


async def test_what_is_held_is_shown_and_counted(api: Api) -> None:
    sent = b'{"content_id":"c-1","labels":{"spam":0.1}}'
    assert (await api.post("/v1/content", sent)).json()["band"] == "HELD"
    health = await api.get("/v1/health", role=Role.LEAD)
    assert health.status_code == 200
    assert health.json()["held"] == 1

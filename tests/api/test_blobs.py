"""Evidence and attachments over HTTP: bounded on the way in, guarded on the way out."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import asyncpg
import httpx
import msgspec
import pytest

from shared.evidence import open_evidence
from shared.vocabulary import Role
from shared.wire.content import DecisionView
from shared.wire.evidence import (
    BLOB_LIMIT,
    BLOB_TYPES,
    LEASE_TOKEN_HEADER,
    BlobReceipt,
    EvidenceChange,
    Revised,
)
from shared.wire.queue import ClaimAnswer, Lease
from tests.support.api import NDJSON, Api, problem
from tests.support.gateway import SAFE, body

Admin: TypeAlias = "asyncpg.Connection[Any]"

PNG = b"\x89PNG\r\n\x1a\n"
DIGEST = hashlib.sha256(PNG).hexdigest()


async def put(
    api: Api,
    data: Any = PNG,
    digest: str = DIGEST,
    media_type: str | None = "image/png",
    **headers: str,
) -> httpx.Response:
    said = {} if media_type is None else {"content-type": media_type}
    sent = {**api.bearer(Role.PRODUCER), **said, **headers}
    return await api.http.put(f"/v1/blobs/{digest}", content=data, headers=sent)


async def revise(api: Api, content_id: str, **fields: Any) -> httpx.Response:
    headers = {**api.bearer(Role.PRODUCER), "content-type": "application/json"}
    sent = msgspec.json.encode(fields)
    return await api.http.put(f"/v1/content/{content_id}/evidence", content=sent, headers=headers)


async def claim(api: Api, queue: str = "posts") -> Lease:
    sent = msgspec.json.encode({"claim_key": str(uuid.uuid4())})
    response = await api.post(f"/v1/queues/{queue}/claim", sent, role=Role.REVIEWER)
    lease = msgspec.json.decode(response.content, type=ClaimAnswer).lease
    assert lease is not None
    return lease


async def decide(api: Api, lease: Lease, reason: str = "other_reason") -> httpx.Response:
    said = {
        "lease_token": lease.lease_token,
        "verdict_token": str(uuid.uuid4()),
        "evidence_hash": lease.evidence_hash,
        "verdict": "approve",
        "reason": reason,
    }
    path = f"/v1/items/{lease.item_id}/verdict"
    return await api.post(path, msgspec.json.encode(said), role=Role.REVIEWER)


async def read(api: Api, path: str, role: Role, token: str | None = None) -> httpx.Response:
    header = {} if token is None else {LEASE_TOKEN_HEADER: token}
    return await api.http.get(path, headers={**api.bearer(role), **header})


async def test_bytes_are_201_when_new_and_200_when_known(api: Api) -> None:
    for status, created in ((201, True), (200, False)):
        response = await put(api)
        assert response.status_code == status
        receipt = msgspec.json.decode(response.content, type=BlobReceipt)
        assert (receipt.sha256, receipt.size, receipt.created) == (DIGEST, len(PNG), created)


@pytest.mark.parametrize("media_type", BLOB_TYPES)
async def test_each_media_type_of_the_list_is_taken(api: Api, media_type: str) -> None:
    assert (await put(api, media_type=f"{media_type.upper()}; charset=utf-8")).status_code == 201


@pytest.mark.parametrize(
    "media_type", [None, "", "text/html", "image/svg+xml", "image/png2", "*/*"]
)
async def test_any_other_media_type_is_refused(api: Api, media_type: str | None) -> None:
    problem(await put(api, media_type=media_type), 415, "unsupported_media_type")
    coded = await put(api, **{"content-encoding": "gzip"})
    problem(coded, 415, "unsupported_media_type")


async def test_another_digest_is_refused(api: Api) -> None:
    problem(await put(api, b"other"), 422, "invalid_field", "sha256")
    problem(await put(api, b"", hashlib.sha256(b"").hexdigest()), 422, "invalid_field", "sha256")
    problem(await put(api, digest="x"), 422, "invalid_field", "sha256")


async def test_what_is_too_large_is_refused_before_it_was_read(api: Api) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 4 * BLOB_LIMIT:
            sent += 2**16
            yield bytes(2**16)

    problem(await put(api, endless()), 413, "too_large")
    problem(await put(api, bytes(BLOB_LIMIT + 1)), 413, "too_large")
    largest = bytes(BLOB_LIMIT)
    digest = hashlib.sha256(largest).hexdigest()
    assert (await put(api, largest, digest)).status_code == 201


async def test_an_attachment_comes_to_its_holder_as_a_file_that_no_browser_opens(api: Api) -> None:
    await put(api)
    await api.post("/v1/content", body("c-1", {"hate": 0.5}, attachments=[DIGEST]))
    lease = await claim(api)
    assert open_evidence(lease.evidence, lease.evidence_hash).attachments == (DIGEST,)
    path = f"/v1/items/{lease.item_id}/blobs/{DIGEST}"
    response = await read(api, path, Role.REVIEWER, lease.lease_token)
    assert (response.status_code, response.content) == (200, PNG)
    headers = response.headers
    assert headers["content-type"] == "image/png"
    assert headers["content-disposition"] == "attachment"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "sandbox" in headers["content-security-policy"]


async def test_without_the_token_of_the_lease_nothing_is_read(api: Api) -> None:
    await put(api)
    await api.post("/v1/content", body("c-1", {"hate": 0.5}, attachments=[DIGEST]))
    lease = await claim(api)
    path = f"/v1/items/{lease.item_id}/blobs/{DIGEST}"
    for token in (None, "", "x"):
        told = await read(api, path, Role.REVIEWER, token)
        problem(told, 422, "invalid_field", LEASE_TOKEN_HEADER)
    wrong = await read(api, path, Role.REVIEWER, str(uuid.uuid4()))
    problem(wrong, 409, "stale_lease", "lease_token")
    problem(await read(api, path, Role.LEAD, lease.lease_token), 409, "stale_lease", "lease_token")
    gone = await read(api, f"/v1/items/99/blobs/{DIGEST}", Role.REVIEWER, lease.lease_token)
    problem(gone, 404, "not_found", "item_id")
    other = await read(
        api, f"/v1/items/{lease.item_id}/blobs/{'0' * 64}", Role.REVIEWER, lease.lease_token
    )
    problem(other, 404, "not_found", "sha256")


async def test_a_look_in_the_open_is_recorded_before_the_bytes_go_out(
    api: Api, admin: Admin
) -> None:
    await put(api)
    await api.post("/v1/content", body("c-1", {"hate": 0.5}, attachments=[DIGEST]))
    response = await read(api, f"/v1/content/c-1/blobs/{DIGEST}", Role.LEAD)
    assert (response.status_code, response.content) == (200, PNG)
    assert response.headers["content-disposition"] == "attachment"
    assert await admin.fetchval("SELECT count(*) FROM event WHERE type = 'evidence.viewed'") == 1
    problem(
        await read(api, f"/v1/content/c-2/blobs/{DIGEST}", Role.LEAD), 404, "not_found", "sha256"
    )


async def test_a_row_of_a_batch_whose_attachment_is_missing_fails_alone(api: Api) -> None:
    await put(api)
    rows = [
        body("c-1", attachments=[DIGEST]),
        body("c-2", attachments=[DIGEST, "0" * 64]),
        b"{}",
        body("c-3"),
    ]
    answer = await api.post("/v1/content:batch", b"\n".join(rows), headers=NDJSON)
    told = answer.json()
    assert (told["created"], told["refused"]) == (2, 2)
    assert told["rows"][1]["problem"]["field"] == "attachments[1]"
    assert told["rows"][1]["problem"]["extra"] == {"index": 1}
    assert told["rows"][2]["problem"]["field"] == "content_id"
    assert [row["receipt"]["content_id"] for row in told["rows"] if row["receipt"]] == [
        "c-1",
        "c-3",
    ]


@pytest.mark.parametrize(
    "attachments", [["x"], [DIGEST.upper()], [1], "x", None, ["0" * 64] * 21, [DIGEST, DIGEST]]
)
async def test_attachments_are_a_short_list_of_digests(api: Api, attachments: Any) -> None:
    sent = body("c-1", attachments=attachments)
    response = await api.post("/v1/content", sent)
    assert response.status_code == 422
    told = response.json()
    assert told["code"] == "invalid_field"
    assert told["field"].startswith("attachments")
    case = msgspec.json.encode({"content_id": "k-1", "attachments": attachments})
    assert (await api.post("/v1/queues/cases/items", case)).status_code == 422
    assert (await revise(api, "c-1", attachments=attachments)).status_code in (404, 422)


async def test_new_evidence_refuses_the_old_verdict_with_all_that_changed(api: Api) -> None:
    await api.post("/v1/content", body("c-1", {"hate": 0.5}, text="he takes it"))
    lease = await claim(api)
    response = await revise(api, "c-1", text="he took it", labels=SAFE | {"hate": 0.99})
    assert response.status_code == 200
    told = msgspec.json.decode(response.content, type=Revised)
    assert (told.revision, told.changed, told.item_id) == (2, True, lease.item_id)
    refused = problem(await decide(api, lease), 409, "evidence_changed", "evidence_hash")
    change = msgspec.convert(refused["extra"]["change"], EvidenceChange)
    assert (change.known, change.text_before) == (True, "he takes it")
    assert [(c.category, c.crossed) for c in change.labels] == [("hate", True)]
    mine = (await api.get("/v1/me/lease", role=Role.REVIEWER)).json()["lease"]
    assert mine["lease_token"] == lease.lease_token
    assert mine["evidence_hash"] == change.after_hash
    again = await revise(api, "c-1", text="he took it", labels=SAFE | {"hate": 0.99})
    assert again.json()["changed"] is False


async def test_a_revision_that_can_not_be_read_is_refused_like_a_submission(api: Api) -> None:
    await api.post("/v1/content", body("c-1", {"hate": 0.5}))
    problem(await revise(api, "c-1", labels={"hate": 2}), 422, "invalid_field", "labels.hate")
    problem(await revise(api, "c-1", texts="x"), 422, "invalid_field", "texts")
    problem(await revise(api, "c-2"), 404, "not_found", "content_id")
    headers = {**api.bearer(Role.PRODUCER), "content-type": "application/json"}
    path = "/v1/content/c-1/evidence"
    twice = await api.http.put(path, content=b'{"labels":{"a":1,"a":0}}', headers=headers)
    problem(twice, 422, "duplicate_key", "labels.a")
    large = await api.http.put(path, content=b" " * (2 * 2**20 + 1), headers=headers)
    problem(large, 413, "too_large")
    problem(
        await revise(api, "c-1", text="x", labels=SAFE, expected_revision=7),
        409,
        "evidence_changed",
        "expected_revision",
    )


TIMES = {
    "1970-01-01T00:00:00Z": True,
    "9998-12-31T23:59:59.999999Z": True,
    "2026-03-29T02:30:00+01:00": True,  # an hour that clocks in Vienna pass over
    "2026-10-25T02:30:00+02:00": True,
    "2024-02-29T12:00:00-11:30": True,
    "0001-01-01T00:00:00Z": False,
    "9999-12-31T23:59:59Z": False,
    "9999-12-31T23:59:59-23:59": False,
    "2026-03-29T02:30:00": False,
    "2026-13-45T99:99:99Z": False,
    "2023-02-29T00:00:00Z": False,
    "yesterday": False,
    "": False,
}


@pytest.mark.parametrize("at", TIMES)
async def test_whatever_time_a_producer_names_the_item_opens_is_decided_and_told(
    api: Api, admin: Admin, at: str
) -> None:
    """What can't be told apart is refused at the door; what is in can be opened and decided."""
    response = await api.post("/v1/content", body("c-1", {"hate": 0.5}, created_at=at))
    if not TIMES[at]:
        problem(response, 422, "invalid_field", "created_at")
        assert await admin.fetchval("SELECT count(*) FROM content") == 0
        response = await api.post("/v1/content", body("c-1", {"hate": 0.5}))
    assert response.status_code == 201
    assert (await revise(api, "c-1", text="new", labels=SAFE | {"hate": 0.6})).status_code == 200
    lease = await claim(api)
    shown = open_evidence(lease.evidence, lease.evidence_hash)
    assert (shown.content.created_at is not None) is TIMES[at]
    reasons = (await api.get("/v1/queues/posts", role=Role.REVIEWER)).json()["reasons"]
    reason = next(r["code"] for r in reasons if "approve" in r["verdicts"])
    assert (await decide(api, lease, reason)).status_code == 200
    told = await api.get("/v1/content/c-1/decision")
    assert msgspec.json.decode(told.content, type=DecisionView).recorded is not None

"""Every error is a problem: one shape, a stable code, nothing of what was sent."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import Any

import pytest
from litestar import get

from backend.api.access import open_to_all
from backend.api.app import create_app
from backend.api.errors import answer
from backend.db.connection import Database
from backend.db.errors import ContentionError, OutcomeUnknownError, UnavailableError
from backend.domain.refusals import Refusal
from backend.settings import Settings
from shared.problems import ProblemCode
from shared.vocabulary import Role
from tests.api.test_access import MATRIX
from tests.support.api import Api, problem, serving
from tests.support.gateway import body

SECRET = "swordfish-7f3a"


def every_refusal() -> list[type[Refusal]]:
    """Return the whole tree of refusals, its root (a fault of ours) included."""
    found, left = [], [Refusal]
    while left:
        kind = left.pop()
        found.append(kind)
        left += kind.__subclasses__()
    return found


STATUS_OF = {
    ProblemCode.MALFORMED: 400,
    ProblemCode.INVALID_FIELD: 422,
    ProblemCode.DUPLICATE_KEY: 422,
    ProblemCode.TOO_LARGE: 413,
    ProblemCode.UNSUPPORTED_MEDIA_TYPE: 415,
    ProblemCode.METHOD_NOT_ALLOWED: 405,
    ProblemCode.UNAUTHENTICATED: 401,
    ProblemCode.FORBIDDEN: 403,
    ProblemCode.WRONG_OWNER: 403,
    ProblemCode.NOT_FOUND: 404,
    ProblemCode.STALE_LEASE: 409,
    ProblemCode.LEASE_HELD: 409,
    ProblemCode.EVIDENCE_CHANGED: 409,
    ProblemCode.VERDICT_CONFLICT: 409,
    ProblemCode.REASON_NOT_ADMITTED: 409,
    ProblemCode.CONTENT_EXISTS: 409,
    ProblemCode.NO_OPEN_ITEM: 409,
    ProblemCode.NOT_REOPENABLE: 409,
    ProblemCode.QUEUE_DRAINING: 409,
    ProblemCode.BUSY: 503,
    ProblemCode.OUTCOME_UNKNOWN: 503,
    ProblemCode.INTERNAL: 500,
}


def test_every_code_has_one_status_and_every_refusal_answers_with_it() -> None:
    assert set(STATUS_OF) == set(ProblemCode)
    kinds = every_refusal()
    assert {kind.code for kind in kinds} == set(ProblemCode)
    for kind in kinds:
        response = answer(kind("do this", field="a.b"), "r-1")
        assert response.status_code == STATUS_OF[kind.code] == kind.status
        assert HTTPStatus(response.status_code)
        told = json.loads(response.content)
        assert (told["code"], told["status"], told["field"], told["request_id"]) == (
            kind.code,
            kind.status,
            "a.b",
            "r-1",
        )
        assert response.media_type == "application/problem+json"


async def test_a_path_that_is_no_route_is_a_problem(api: Api) -> None:
    problem(await api.get("/v1/nothing"), 404, "not_found")
    problem(await api.get("/", role=None), 404, "not_found")
    for page in ("/schema", "/schema/", "/schema/swagger", "/schema/nope"):
        problem(await api.get(page, role=None), 404, "not_found")


async def test_a_method_that_a_path_lacks_is_a_problem(api: Api) -> None:
    response = await api.http.delete("/v1/content", headers=api.bearer(Role.PRODUCER))
    problem(response, 405, "method_not_allowed")
    assert "POST" in response.headers["allow"]
    problem(await api.http.options("/v1/content"), 405, "method_not_allowed")


async def test_a_body_of_another_kind_is_a_problem(api: Api) -> None:
    for media_type in ("text/plain", "application/x-ndjson", "multipart/form-data; boundary=x"):
        response = await api.post("/v1/content", body("c"), headers={"content-type": media_type})
        problem(response, 415, "unsupported_media_type")
    squeezed = await api.post("/v1/content", body("c"), headers={"content-encoding": "gzip"})
    problem(squeezed, 415, "unsupported_media_type")


async def test_a_field_that_is_wrong_or_missing_says_what_it_takes(api: Api) -> None:
    claim = await api.post("/v1/queues/posts/claim", b'{"claim_key":"x"}', role=Role.REVIEWER)
    told = problem(claim, 422, "invalid_field", "claim_key")
    assert told["detail"] == "a UUID in lower-case hex"
    back = await api.post("/v1/items/1/take-back", b'{"lease_epoch":1}', role=Role.LEAD)
    told = problem(back, 422, "invalid_field", "reason")
    assert told["detail"].endswith("one of holder_away, conflict, reassign, mistake")


@pytest.mark.parametrize(
    ("path", "limit", "role"),
    [
        ("/v1/content", 2 * 1024 * 1024, Role.PRODUCER),
        ("/v1/queues/cases/items", 2 * 1024 * 1024, Role.PRODUCER),
        ("/v1/content:batch", 32 * 1024 * 1024, Role.PRODUCER),
        ("/v1/queues/posts/claim", 256 * 1024, Role.REVIEWER),
        ("/v1/items/1/verdict", 256 * 1024, Role.REVIEWER),
    ],
)
async def test_a_body_beyond_the_limit_is_refused_while_it_arrives(
    api: Api, path: str, limit: int, role: Role
) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while sent < 2 * limit:
            sent += 65536
            yield b" " * 65536

    headers = {**api.bearer(role), "content-type": "application/json"}
    problem(await api.http.post(path, content=endless(), headers=headers), 413, "too_large")
    assert sent <= limit + 3 * 65536
    announced = {**headers, "content-length": str(limit + 1)}
    problem(await api.http.post(path, content=b"{}", headers=announced), 413, "too_large")


async def test_a_body_of_exactly_the_limit_is_read(api: Api) -> None:
    padded = body("c-1").ljust(2 * 1024 * 1024)
    assert (await api.post("/v1/content", padded)).status_code == 201


async def test_a_fault_of_ours_tells_nothing_but_the_request_id(database: Database) -> None:
    @get("/boom", opt=open_to_all())
    async def boom() -> None:
        raise RuntimeError(f"SELECT {SECRET} FROM secrets")

    app = create_app(database, Settings(env="test"), routes=[boom])
    async with serving(app) as http:
        response = await http.get("/boom", headers={"x-request-id": "asked-for-1"})
    told = problem(response, 500, "internal")
    assert told["request_id"] == "asked-for-1"
    assert SECRET not in response.text
    assert "SELECT" not in response.text


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (ContentionError("deadlock"), "busy"),
        (UnavailableError("no connection"), "busy"),
        (OutcomeUnknownError("gone"), "outcome_unknown"),
    ],
    ids=["contention", "unavailable", "unknown"],
)
async def test_trouble_with_the_database_is_503_with_a_time_to_come_back(
    api: Api, monkeypatch: pytest.MonkeyPatch, raised: Exception, code: str
) -> None:
    tried = 0

    async def fail(*_: Any, **__: Any) -> None:
        nonlocal tried
        tried += 1
        raise raised

    monkeypatch.setattr("backend.api.content.submit", fail)
    response = await api.post("/v1/content", body("c-1"))
    problem(response, 503, code)
    assert int(response.headers["retry-after"]) >= 1
    assert tried == (1 if code == "outcome_unknown" else 4)


async def test_a_refusal_never_repeats_what_was_sent(api: Api) -> None:
    for sent in (
        json.dumps({"content_id": "c", f"{SECRET} x": 1}).encode(),
        json.dumps({"content_id": f"! {SECRET}"}).encode(),
        json.dumps({"content_id": "c", "kind": f"! {SECRET}"}).encode(),
        json.dumps({"content_id": "c", "labels": {f"! {SECRET}": 1}}).encode(),
        json.dumps({"content_id": "c", "labels": {"hate": SECRET}}).encode(),
        json.dumps({"content_id": "c", "fields": {f"x {SECRET}": 1.5}}).encode(),
        f'{{"content_id":"c","text":"{SECRET}\x01"}}'.encode(),
        f'{{"{SECRET}'.encode(),
    ):
        response = await api.post("/v1/content", sent)
        assert response.status_code in (400, 422), sent
        assert SECRET not in response.text, response.text


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_fault_of_ours(
    api: Api,
) -> None:
    told: list[Any] = []
    coming = iter(
        [
            {"type": "http.request", "body": b'{"content', "more_body": True},
            {"type": "http.disconnect"},
        ]
    )

    async def receive() -> Any:
        return next(coming)

    async def send(message: Any) -> None:
        told.append(message)

    bearer = api.bearer(Role.PRODUCER)["authorization"].encode()
    scope: Any = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/content",
        "raw_path": b"/v1/content",
        "query_string": b"",
        "headers": [(b"authorization", bearer), (b"content-type", b"application/json")],
        "client": None,
        "server": None,
        "scheme": "http",
        "root_path": "",
    }
    await api.app(scope, receive, send)
    assert told[0]["status"] == 400


async def test_without_a_policy_the_server_is_alive_and_not_ready(database: Database) -> None:
    async with serving(create_app(database, Settings(env="test"))) as http:
        assert (await http.get("/healthz")).status_code == 200
        response = await http.get("/readyz")
        problem(response, 503, "busy")
        assert response.headers["cache-control"] == "no-store"


async def test_a_nul_in_an_address_is_refused_like_any_other_name(api: Api) -> None:
    for method, path, roles in MATRIX:
        for place in re.finditer(r"(?<=/)(c-1|1|posts)(?=/|$)", path):
            hostile = f"{path[: place.start()]}a%00b{path[place.end() :]}"
            answer = await api.http.request(
                method, hostile, headers=api.bearer(roles[-1]), content=b"{}"
            )
            assert 400 <= answer.status_code < 500, (method, hostile, answer.text)
    for path, role in (
        ("/v1/available?queue=a%00b", Role.REVIEWER),
        ("/v1/queues/posts/items?list=a%00b", Role.LEAD),
        ("/v1/queues/posts/items?after=a%00b", Role.LEAD),
        ("/v1/items/1/leases?after=a%00b", Role.LEAD),
    ):
        answer = await api.get(path, role=role)
        assert 400 <= answer.status_code < 500, (path, answer.text)

"""Who may call what: said by each route, proven for each role, undone within a second."""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from typing import Any, TypeAlias

import asyncpg
import pytest
from litestar import get, post
from litestar.routes import HTTPRoute

from backend.api.access import UndeclaredRouteError, access_of, needs
from backend.api.app import create_app
from backend.db.connection import Database
from backend.services import keys
from backend.settings import Settings
from shared.vocabulary import KeyEnv, Role
from tests.support.api import Api, problem
from tests.support.gateway import body, key_for

Admin: TypeAlias = "asyncpg.Connection[Any]"

ALL = ("POST", "/v1/content", (Role.PRODUCER,)), ("POST", "/v1/content:batch", (Role.PRODUCER,))
MATRIX = (
    *ALL,
    ("GET", "/v1/content/c-1/decision", (Role.PRODUCER, Role.LEAD)),
    ("PUT", "/v1/content/c-1/evidence", (Role.PRODUCER,)),
    ("PUT", "/v1/blobs/1", (Role.PRODUCER,)),
    ("GET", "/v1/items/1/blobs/1", (Role.REVIEWER, Role.LEAD)),
    ("GET", "/v1/content/c-1/blobs/1", (Role.LEAD,)),
    ("POST", "/v1/queues/posts/items", (Role.PRODUCER,)),
    ("POST", "/v1/queues/posts/claim", (Role.REVIEWER, Role.LEAD)),
    ("GET", "/v1/queues/posts", (Role.REVIEWER, Role.LEAD)),
    ("POST", "/v1/claim", (Role.REVIEWER, Role.LEAD)),
    ("GET", "/v1/available", (Role.REVIEWER, Role.LEAD)),
    ("GET", "/v1/queues/posts/items", (Role.LEAD,)),
    ("GET", "/v1/items/1/leases", (Role.LEAD,)),
    ("POST", "/v1/items:move", (Role.LEAD,)),
    ("POST", "/v1/items:wake", (Role.LEAD,)),
    ("POST", "/v1/items:withdraw", (Role.LEAD,)),
    ("POST", "/v1/content/c-1/withdraw", (Role.PRODUCER,)),
    ("POST", "/v1/content/c-1/reopen", (Role.LEAD,)),
    ("POST", "/v1/items/1/renew", (Role.REVIEWER, Role.LEAD)),
    ("POST", "/v1/items/1/release", (Role.REVIEWER, Role.LEAD)),
    ("POST", "/v1/items/1/verdict", (Role.REVIEWER, Role.LEAD)),
    ("POST", "/v1/items/1/park", (Role.REVIEWER, Role.LEAD)),
    ("POST", "/v1/items/1/take-back", (Role.LEAD,)),
    ("POST", "/v1/me/lease/take-over", (Role.REVIEWER, Role.LEAD)),
    ("GET", "/v1/content/c-1/questions", (Role.PRODUCER, Role.LEAD)),
    ("GET", "/v1/me", (Role.PRODUCER, Role.REVIEWER, Role.LEAD)),
    ("GET", "/v1/me/lease", (Role.REVIEWER, Role.LEAD)),
    ("GET", "/v1/health", (Role.LEAD,)),
    ("GET", "/v1/stream", (Role.REVIEWER, Role.LEAD)),
)
PUBLIC = ("/healthz", "/readyz", "/schema/openapi.json")


async def test_each_route_lets_in_its_roles_and_no_other(api: Api) -> None:
    api.app.state.hub.close()  # so that a stream ends as soon as it has begun
    for method, path, roles in MATRIX:
        for role in api.keys:
            response = await api.http.request(method, path, headers=api.bearer(role))
            if role in roles:
                assert response.status_code not in (401, 403, 405, 500), (method, path, role)
            else:
                problem(response, 403, "forbidden")
        problem(await api.http.request(method, path), 401, "unauthenticated")
    for path in PUBLIC:
        assert (await api.http.get(path)).status_code == 200, path


async def test_the_matrix_above_names_every_route(api: Api) -> None:
    named = {(method, re.sub(r"/(c-1|1|posts)(?=/|$)", "/{}", path)) for method, path, _ in MATRIX}
    named |= {("GET", path) for path in PUBLIC}
    served = set()
    for route in api.app.routes:
        assert isinstance(route, HTTPRoute)
        for handler in route.route_handlers:
            if access_of(handler) is not None:
                path = route.path_format
                for name in route.path_parameters:
                    path = path.replace(f"{{{name}}}", "{}")
                served |= {(method, path) for method in handler.http_methods}
    assert served == named - {("GET", "/schema/openapi.json")}


async def test_two_keys_in_one_request_are_none(api: Api) -> None:
    mine = ("authorization", f"Bearer {api.keys[Role.PRODUCER]}")
    assert (await api.http.get("/v1/me", headers=[mine])).status_code == 200
    for other in (mine, ("authorization", "Bearer x"), ("Authorization", "")):
        for both in ([mine, other], [other, mine]):
            problem(await api.http.get("/v1/me", headers=both), 401, "unauthenticated")


async def test_a_role_for_one_queue_opens_no_other(api: Api, database: Database) -> None:
    api.keys[Role.AUDITOR] = await key_for(database, Role.REVIEWER, "cases", name="limited")
    claim = b'{"claim_key":"00000000-0000-4000-8000-000000000000"}'
    mine = await api.post("/v1/queues/cases/claim", claim, role=Role.AUDITOR)
    assert mine.status_code == 200
    other = await api.post("/v1/queues/posts/claim", claim, role=Role.AUDITOR)
    assert "in this queue" in problem(other, 403, "forbidden")["detail"]
    problem(await api.get("/v1/queues/posts", role=Role.AUDITOR), 403, "forbidden")
    me = (await api.get("/v1/me", role=Role.AUDITOR)).json()
    assert [queue["queue"] for queue in me["queues"]] == ["cases"]


async def test_a_producer_for_one_queue_submits_to_no_other(api: Api, database: Database) -> None:
    api.keys[Role.AUDITOR] = await key_for(database, Role.PRODUCER, "cases", name="limited")
    response = await api.post("/v1/content", body("c-1"), role=Role.AUDITOR)
    problem(response, 403, "forbidden", "queue")
    case = b'{"content_id":"k-1"}'
    assert (await api.post("/v1/queues/cases/items", case, role=Role.AUDITOR)).status_code == 201
    problem(await api.post("/v1/queues/posts/items", case, role=Role.AUDITOR), 403, "forbidden")


async def test_a_route_that_says_nothing_keeps_the_application_from_starting(
    database: Database,
) -> None:
    @get("/v1/silent")
    async def silent() -> None: ...

    @post("/v1/lost", opt=needs(Role.LEAD, queue_from="queue"))
    async def lost() -> None: ...

    for handler in (silent, lost):
        with pytest.raises(UndeclaredRouteError):
            create_app(database, Settings(env="test"), routes=[handler])
    with pytest.raises(ValueError, match="roles"):
        needs()


async def test_a_wrong_key_and_an_unknown_one_get_the_same_answer(api: Api) -> None:
    good = api.keys[Role.PRODUCER]
    _, _, key_id, secret = good.split("_")
    other = "a" * len(secret)
    answers = []
    for bearer in (
        f"fp_test_{key_id}_{other}",
        f"fp_test_{'z' * 12}_{secret}",
        f"fp_live_{key_id}_{secret}",
        f"fp_test_{key_id}_{secret}x",
        "nonsense",
        "",
    ):
        response = await api.http.get("/v1/me", headers={"authorization": f"Bearer {bearer}"})
        told = problem(response, 401, "unauthenticated")
        assert response.headers["www-authenticate"] == "Bearer"
        assert secret not in response.text
        answers.append({name: told[name] for name in told if name != "request_id"})
    assert all(each == answers[0] for each in answers)
    basic = await api.http.get("/v1/me", headers={"authorization": f"Basic {good}"})
    problem(basic, 401, "unauthenticated")
    assert (await api.get("/v1/me")).status_code == 200


async def test_a_wrong_key_and_an_unknown_one_take_the_same_time(api: Api) -> None:
    _, _, key_id, secret = api.keys[Role.PRODUCER].split("_")
    wrong, unknown = f"fp_test_{key_id}_{'a' * len(secret)}", f"fp_test_{'z' * 12}_{secret}"
    took: dict[str, list[float]] = {wrong: [], unknown: []}
    keyring = api.app.state.keyring
    keyring._keep_seconds = 0.0
    for _ in range(150):
        for bearer, times in took.items():
            begun = time.perf_counter()
            response = await api.http.get("/v1/me", headers={"authorization": f"Bearer {bearer}"})
            times.append(time.perf_counter() - begun)
            assert response.status_code == 401
    first, second = (statistics.median(times) for times in took.values())
    assert 0.5 < first / second < 2


async def test_a_revoked_key_is_refused_within_a_second(api: Api, database: Database) -> None:
    assert (await api.get("/v1/me")).status_code == 200
    await keys.revoke(database, api.keys[Role.PRODUCER].split("_")[2])
    loop = asyncio.get_running_loop()
    begun = loop.time()
    while (await api.get("/v1/me")).status_code != 401:
        assert loop.time() - begun < 1
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "undo",
    [
        "UPDATE api_key SET expires_at = clock() - interval '1 second'",
        "UPDATE principal SET active = false",
        "DELETE FROM role_grant",
    ],
    ids=["expired", "inactive", "without a role"],
)
async def test_a_key_that_ended_or_whose_holder_did_opens_nothing(
    api: Api, admin: Admin, undo: str
) -> None:
    api.app.state.keyring._keep_seconds = 0.0
    await admin.execute(undo)
    response = await api.get("/v1/me")
    assert response.status_code == (403 if "role_grant" in undo else 401)


async def test_the_identity_comes_from_the_key_and_never_from_the_body(api: Api) -> None:
    for name in ("reviewer_id", "principal", "tenant_id", "role"):
        sent = body("c-1", None, **{name: "1"})
        problem(await api.post("/v1/content", sent), 422, "invalid_field", name)


async def test_a_key_of_the_other_kind_of_deployment_is_refused(
    api: Api, database: Database
) -> None:
    live = await keys.create(database, "live-1", "service", Role.PRODUCER, None, KeyEnv.LIVE)
    response = await api.http.get("/v1/me", headers={"authorization": f"Bearer {live}"})
    problem(response, 401, "unauthenticated")

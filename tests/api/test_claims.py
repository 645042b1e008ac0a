"""Claims across queues and the wait for something to claim, over HTTP."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import msgspec

from backend.services.available import WAITS_EACH
from shared.vocabulary import Role
from shared.wire.queue import Available, ClaimAnswer, ClaimAnyAnswer
from tests.support.api import Api, problem
from tests.support.gateway import body

WAIT = "/v1/available?wait_ms=20000&queue=posts&queue=cases"


async def claim(api: Api, **said: Any) -> Any:
    sent = msgspec.json.encode({"claim_key": str(uuid.uuid4()), **said})
    return await api.post("/v1/claim", sent, role=Role.REVIEWER)


async def available(api: Api, path: str) -> Available:
    response = await api.get(path, role=Role.REVIEWER)
    assert response.status_code == 200, response.text
    return msgspec.json.decode(response.content, type=Available)


async def test_a_claim_of_any_queue_leases_and_says_where_from(api: Api) -> None:
    assert (await api.post("/v1/queues/cases/items", b'{"content_id":"k-1"}')).status_code == 201
    response = await claim(api, terminal="desk-1")
    lease = msgspec.json.decode(response.content, type=ClaimAnyAnswer).lease
    assert lease is not None
    assert (lease.queue, lease.content_id, lease.terminal) == ("cases", "k-1", "desk-1")
    problem(await claim(api), 409, "lease_held")


async def test_a_claim_of_one_queue_keeps_the_terminal_too(api: Api) -> None:
    await api.post("/v1/content", body("c-1", {"hate": 0.5}))
    sent = msgspec.json.encode({"claim_key": str(uuid.uuid4()), "terminal": "desk-2"})
    response = await api.post("/v1/queues/posts/claim", sent, role=Role.REVIEWER)
    lease = msgspec.json.decode(response.content, type=ClaimAnswer).lease
    assert lease is not None
    assert lease.terminal == "desk-2"


async def test_nothing_to_claim_is_answered_with_why(api: Api) -> None:
    response = await claim(api, queues=["posts", "cases"])
    answer = msgspec.json.decode(response.content, type=ClaimAnyAnswer)
    assert answer.lease is None
    assert [(figures.queue, figures.free) for figures in answer.figures] == [
        ("posts", 0),
        ("cases", 0),
    ]


async def test_what_can_not_be_claimed_from_is_named(api: Api) -> None:
    problem(await claim(api, queues=["posts", "x"]), 422, "invalid_field", "queues[1]")
    problem(await claim(api, queues=[]), 422, "invalid_field", "queues")
    problem(await claim(api, queues=["posts"] * 51), 422, "invalid_field", "queues")
    problem(await claim(api, claim_key="x"), 422, "invalid_field", "claim_key")
    for path, field in (
        ("/v1/available?wait_ms=30001", "wait_ms"),
        ("/v1/available?wait_ms=-1", "wait_ms"),
        ("/v1/available?wait_ms=soon", "wait_ms"),
        ("/v1/available?wait_ms=", "wait_ms"),
        ("/v1/available?wait_ms=1.5", "wait_ms"),
        ("/v1/available?wait_ms=1e3", "wait_ms"),
        ("/v1/available?wait_ms=%2B1", "wait_ms"),
        ("/v1/available?wait_ms=%D9%A3", "wait_ms"),
        (f"/v1/available?wait_ms={'9' * 5000}", "wait_ms"),
        ("/v1/available?wait_ms=1&wait_ms=1", "wait_ms"),
        ("/v1/available?queue=posts&queue=x", "queue[1]"),
        ("/v1/available?" + "queue=posts&" * 51, "queue"),
    ):
        problem(await api.get(path, role=Role.REVIEWER), 422, "invalid_field", field)


async def test_what_is_there_is_told_and_leased_by_nobody(api: Api) -> None:
    assert (await available(api, "/v1/available")).queues == ()
    await api.post("/v1/content", body("c-1", {"hate": 0.5}))
    for path in ("/v1/available", WAIT, "/v1/available?queue=posts"):
        answer = await asyncio.wait_for(available(api, path), 5)
        assert answer.queues == ("posts",)
        assert answer.figures[0].free == 1


async def test_a_wait_ends_with_what_comes(api: Api) -> None:
    waiting = asyncio.create_task(available(api, WAIT))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    await api.post("/v1/content", body("c-1", {"hate": 0.5}))
    assert (await asyncio.wait_for(waiting, 5)).queues == ("posts",)


async def test_a_person_waits_so_often_at_once_and_no_more(api: Api) -> None:
    waiting = [asyncio.create_task(available(api, WAIT)) for _ in range(WAITS_EACH)]
    try:
        await asyncio.sleep(0.5)
        refused = await api.get("/v1/available?wait_ms=1", role=Role.REVIEWER)
        problem(refused, 503, "busy")
        assert int(refused.headers["retry-after"]) >= 1
        assert (await api.get("/v1/available", role=Role.LEAD)).status_code == 200
        waiting.pop().cancel()
        await asyncio.sleep(0.2)
        assert (await available(api, "/v1/available")).queues == ()
    finally:
        api.app.state.closing.set()
        await asyncio.gather(*waiting)


async def test_a_wait_ends_at_once_when_the_server_stops(api: Api) -> None:
    waiting = asyncio.create_task(available(api, WAIT))
    await asyncio.sleep(0.2)
    api.app.state.closing.set()
    assert (await asyncio.wait_for(waiting, 1)).queues == ()


async def test_a_wait_ends_when_the_asker_hangs_up(api: Api) -> None:
    """Spoken as a server speaks to the application, since no client tells that it has gone."""
    hung_up, sent = asyncio.Event(), []
    begun = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in begun:
            return message
        await hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message["type"])

    bearer = api.bearer(Role.REVIEWER)["authorization"].encode()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/v1/available",
        "raw_path": b"/v1/available",
        "query_string": b"wait_ms=20000",
        "root_path": "",
        "headers": [(b"authorization", bearer)],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    app: Any = api.app
    serving = asyncio.create_task(app(scope, receive, send))
    await asyncio.sleep(0.3)
    assert not serving.done()
    hung_up.set()
    await asyncio.wait_for(serving, 1)
    assert not api.app.state.hub._waiters, "nobody is kept who has gone"

"""What leads and producers do to rounds, over HTTP, through the client that they have."""

from __future__ import annotations

import json
from typing import Any, cast

import httpx
import msgspec
import pytest

from backend.db.connection import Database
from shared.client import FencepostClient
from shared.vocabulary import BulkResult, ItemList, Role
from shared.wire.item import BULK_LIMIT, MoveRequest, ReopenRequest, WithdrawItemsRequest
from tests.support.api import Api, problem
from tests.support.gateway import SAFE, key_for

HOSTILE = ("\x1b[2J", "\u202e", "<b>", "x" * 4_000)


async def queued(api: Api, *names: str) -> list[str]:
    """Submit what needs people; return the ids of its items."""
    items = []
    for name in names:
        body = {"content_id": name, "labels": SAFE | {"hate": 0.5}, "text": "x"}
        receipt = await api.post("/v1/content", msgspec.json.encode(body))
        assert receipt.status_code == 201, receipt.text
        items.append(receipt.json()["item_id"])
    return items


def through(api: Api) -> httpx.ASGITransport:
    return httpx.ASGITransport(app=cast("Any", api.app))


async def test_a_lead_moves_withdraws_and_reopens_with_the_client(api: Api) -> None:
    items = await queued(api, "c-1", "c-2", "c-3")
    address = "http://fencepost.test"
    async with FencepostClient(address, api.keys[Role.LEAD], through(api)) as lead:
        moved = await lead.move(MoveRequest(items=(*items[:2], "no"), to="cases"))
        assert [row.result for row in moved.rows] == [
            BulkResult.DONE,
            BulkResult.DONE,
            BulkResult.NOT_FOUND,
        ]
        page = await lead.items("cases", ItemList.WAITING, limit=1)
        assert [line.content_id for line in page.items] == ["c-1"]
        rest = await lead.items("cases", ItemList.WAITING, page.after)
        assert [line.content_id for line in rest.items] == ["c-2"]
        gone = await lead.withdraw_items(WithdrawItemsRequest(items=tuple(items)))
        assert gone.done == 3
        assert (await lead.leases(items[0])).entries == ()
        opened = await lead.reopen("c-1", ReopenRequest(queue="posts"))
        assert (opened.queue, opened.round) == ("posts", 2)
    async with FencepostClient(address, api.keys[Role.PRODUCER], through(api)) as producer:
        taken = await producer.withdraw("c-1")
        assert taken == await producer.withdraw("c-1")
        assert taken.item_id == opened.item_id
        assert (await producer.decision("c-1")).withdrawn_at == taken.withdrawn_at


async def test_what_a_bulk_names_comes_back_as_it_was_named(api: Api) -> None:
    (item,) = await queued(api, "c-1")
    asked = json.dumps({"items": [*HOSTILE, item, "0", "-0", item], "to": "cases"}).encode()
    answer = await api.post("/v1/items:move", asked, role=Role.LEAD)
    assert answer.status_code == 200
    rows = answer.json()["rows"]
    assert [row["item_id"] for row in rows] == [*HOSTILE, item, "0", "-0", item]
    assert [row["result"] for row in rows].count("not_found") == len(HOSTILE) + 2
    assert (rows[4]["result"], rows[7]["result"]) == ("done", "unchanged")
    assert answer.json()["done"] == 1


@pytest.mark.parametrize("path", ["/v1/items:move", "/v1/items:wake", "/v1/items:withdraw"])
async def test_a_bulk_that_is_none_is_refused_as_a_whole(api: Api, path: str) -> None:
    to = {"to": "cases"} if path.endswith("move") else {}
    for items in ([], ["1"] * (BULK_LIMIT + 1), [1], "1", None):
        refused = await api.post(path, json.dumps({"items": items, **to}).encode(), role=Role.LEAD)
        assert problem(refused, 422, "invalid_field", refused.json()["field"])["field"].startswith(
            "items"
        )
    unknown = json.dumps({"items": ["1"], "force": True, **to}).encode()
    problem(await api.post(path, unknown, role=Role.LEAD), 422, "invalid_field", "force")
    problem(await api.post(path, b"{", role=Role.LEAD), 400, "malformed")
    full = json.dumps({"items": [str(n) for n in range(BULK_LIMIT)], **to}).encode()
    answer = await api.post(path, full, role=Role.LEAD)
    assert len(answer.json()["rows"]) == BULK_LIMIT


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ("list=everything", "list"),
        ("list=", "list"),
        ("after=x", "after"),
        ("after=", "after"),
        ("after=%00", "after"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=1.5", "limit"),
        ("limit=%D9%A3", "limit"),
        (f"limit={'9' * 5000}", "limit"),
        ("limit=1&limit=2", "limit"),
        ("list=waiting&list=waiting", "list"),
        ("after=x&after=y", "after"),
    ],
)
async def test_a_list_asked_for_wrongly_says_what_is_wrong(
    api: Api, asked: str, field: str
) -> None:
    refused = await api.get(f"/v1/queues/posts/items?{asked}", role=Role.LEAD)
    problem(refused, 422, "invalid_field", field)
    if field != "list":
        refused = await api.get(f"/v1/items/1/leases?{asked}", role=Role.LEAD)
        problem(refused, 422, "invalid_field", field)


async def test_an_item_has_one_id(api: Api) -> None:
    await queued(api, "c-1")
    item = (await api.get("/v1/queues/posts/items", role=Role.LEAD)).json()["items"][0]["item_id"]
    assert (await api.get(f"/v1/items/{item}/leases", role=Role.LEAD)).status_code == 200
    other = await api.get(f"/v1/items/000{item}/leases", role=Role.LEAD)
    problem(other, 404, "not_found", "item_id")
    said = json.dumps({"items": [f"0{item}"]}).encode()
    answer = await api.post("/v1/items:withdraw", said, role=Role.LEAD)
    assert [row["result"] for row in answer.json()["rows"]] == ["not_found"]


async def test_refusals_of_single_rounds_say_what_to_do(api: Api, database: Database) -> None:
    problem(await api.post("/v1/content/c-1/withdraw", b""), 404, "not_found", "content_id")
    nothing = await api.post("/v1/content/c-1/reopen", b"{}", role=Role.LEAD)
    problem(nothing, 404, "not_found", "content_id")
    await queued(api, "c-1")
    opened = await api.post("/v1/content/c-1/reopen", b"{}", role=Role.LEAD)
    assert "open" in problem(opened, 409, "not_reopenable")["detail"]
    move = b'{"items":["1"],"to":"nowhere"}'
    problem(await api.post("/v1/items:move", move, role=Role.LEAD), 404, "not_found", "to")
    api.keys[Role.AUDITOR] = await key_for(database, Role.LEAD, "cases", name="cora")
    problem(await api.post("/v1/items:move", move, role=Role.AUDITOR), 403, "forbidden", "to")
    problem(await api.get("/v1/queues/posts/items", role=Role.AUDITOR), 403, "forbidden")
    health = (await api.get("/v1/health", role=Role.LEAD)).json()
    posts = next(row for row in health["queues"] if row["queue"] == "posts")
    assert {"parked", "unclaimable", "present"} <= set(posts)

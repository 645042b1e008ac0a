"""Each call of the client: its method, its path, its headers, and that it is repeated as it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import msgspec
import pytest

from shared.client import FencepostClient
from shared.vocabulary import ItemList, ParkReason, TakeBackReason
from shared.wire.evidence import EvidenceRevision
from shared.wire.item import (
    BulkAnswer,
    ItemPage,
    LeasePage,
    MoveRequest,
    ParkRequest,
    Questions,
    TakeBackRequest,
    WakeItemsRequest,
    WithdrawItemsRequest,
)
from shared.wire.queue import Available, ClaimAnyRequest, MyLease, QueueFigures, TakeOverRequest

TOKEN = "00000000-0000-4000-8000-000000000001"
DIGEST = "ab" * 32
Call = Callable[[FencepostClient], Awaitable[Any]]
_FIGURES = QueueFigures(queue="posts", free=1, held=0)

ROUTES: list[tuple[str, Call, str, bytes]] = [
    (
        "claim_any", lambda c: c.claim_any(ClaimAnyRequest(claim_key=TOKEN)),
        "POST /v1/claim", b'{"lease":null,"figures":[]}',
    ),
    (
        "available", lambda c: c.available(["posts", "a,b"], 20_000),
        "GET /v1/available?queue=posts&queue=a%2Cb&wait_ms=20000",
        msgspec.json.encode(Available(queues=("posts",), figures=(_FIGURES,))),
    ),
    (
        "available of all", lambda c: c.available(),
        "GET /v1/available", b'{"queues":[],"figures":[]}',
    ),
    (
        "take_over", lambda c: c.take_over(TakeOverRequest(claim_key=TOKEN)),
        "POST /v1/me/lease/take-over", msgspec.json.encode(MyLease(lease=None)),
    ),
    (
        "park",
        lambda c: c.park("7", ParkRequest(lease_token=TOKEN, reason=ParkReason.AWAIT_DATE)),
        "POST /v1/items/7/park", b'{"item_id":"7","wake_at":"2026-12-01T09:00:00Z"}',
    ),
    (
        "take_back",
        lambda c: c.take_back(
            "7", TakeBackRequest(lease_epoch=3, reason=TakeBackReason.HOLDER_AWAY)
        ),
        "POST /v1/items/7/take-back", b'{"item_id":"7","holder":"maria.k"}',
    ),
    (
        "move", lambda c: c.move(MoveRequest(items=("7",), to="posts")),
        "POST /v1/items:move", msgspec.json.encode(BulkAnswer(rows=(), done=0)),
    ),
    (
        "wake_items", lambda c: c.wake_items(WakeItemsRequest(items=("7",))),
        "POST /v1/items:wake", msgspec.json.encode(BulkAnswer(rows=(), done=0)),
    ),
    (
        "withdraw_items", lambda c: c.withdraw_items(WithdrawItemsRequest(items=("7",))),
        "POST /v1/items:withdraw", msgspec.json.encode(BulkAnswer(rows=(), done=0)),
    ),
    (
        "items", lambda c: c.items("a/b", ItemList.STUCK, "x=", 50),
        "GET /v1/queues/a%2Fb/items?list=stuck&after=x%3D&limit=50",
        msgspec.json.encode(ItemPage(items=())),
    ),
    (
        "leases", lambda c: c.leases("7"),
        "GET /v1/items/7/leases", msgspec.json.encode(LeasePage(entries=())),
    ),
    (
        "withdraw", lambda c: c.withdraw("c 1"), "POST /v1/content/c%201/withdraw",
        b'{"content_id":"c 1","item_id":null,"withdrawn_at":"2026-12-01T09:00:00Z"}',
    ),
    (
        "questions", lambda c: c.questions("c1"),
        "GET /v1/content/c1/questions", msgspec.json.encode(Questions(questions=())),
    ),
    (
        "more questions", lambda c: c.questions("c1", "x="),
        "GET /v1/content/c1/questions?after=x%3D", msgspec.json.encode(Questions(questions=())),
    ),
    (
        "revise", lambda c: c.revise("c1", EvidenceRevision(text="new")),
        "PUT /v1/content/c1/evidence",
        b'{"content_id":"c1","state":"in_review","revision":2,"changed":true}',
    ),
]  # fmt: skip


class Wire:
    """Breaks once, then answers; keeps what was asked."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self.asked: list[httpx.Request] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if len(self.asked) == 1:
            raise httpx.ReadError("lost")
        return self.answer

    def client(self) -> FencepostClient:
        async def at_once(_: float) -> None:
            return None

        transport = httpx.MockTransport(self.handle)
        return FencepostClient("http://127.0.0.1:1", "fp_test_a_b", transport, sleep=at_once)


@pytest.mark.parametrize(("call", "route", "answer"), [row[1:] for row in ROUTES],
                         ids=[row[0] for row in ROUTES])  # fmt: skip
async def test_a_call_goes_to_its_route_and_is_repeated_as_it_was(
    call: Call, route: str, answer: bytes
) -> None:
    wire = Wire(httpx.Response(200, content=answer))
    async with wire.client() as client:
        got = await call(client)
    assert got == msgspec.json.decode(answer, type=type(got))
    first, second = wire.asked
    assert f"{first.method} {first.url.raw_path.decode()}" == route
    assert (second.url, second.content) == (first.url, first.content)


async def test_an_attachment_is_stored_with_its_type_and_read_through_the_lease() -> None:
    receipt = {"sha256": DIGEST, "media_type": "image/png", "size": 3, "created": True}
    wire = Wire(httpx.Response(200, content=msgspec.json.encode(receipt)))
    async with wire.client() as client:
        await client.put_blob(DIGEST, "image/png", b"\x89PN")
        put = wire.asked[-1]
        assert (put.method, put.url.path) == ("PUT", f"/v1/blobs/{DIGEST}")
        assert put.headers["content-type"] == "image/png"
        assert put.content == b"\x89PN"
        wire.answer = httpx.Response(200, content=b"\x89PN")
        assert await client.read_blob("7", DIGEST, TOKEN) == b"\x89PN"
    read = wire.asked[-1]
    assert read.headers["fencepost-lease-token"] == TOKEN
    assert TOKEN not in str(read.url)


async def test_a_long_wait_that_was_asked_for_is_not_taken_for_silence() -> None:
    wire = Wire(httpx.Response(200, content=b'{"queues":[],"figures":[]}'))
    async with wire.client() as client:
        await client.available(None, 30_000)
        waited = wire.asked[-1].extensions["timeout"]
        await client.available()
        usual = wire.asked[-1].extensions["timeout"]
    assert waited["read"] == usual["read"] + 30 > 30
    assert waited["connect"] == usual["connect"]

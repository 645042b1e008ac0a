"""The reader of the live stream: it comes back, says so, and believes nothing it can't read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import msgspec
import pytest

from shared.client import FencepostClient, Refused
from shared.client.stream import SILENCE
from shared.problems import Problem, ProblemCode
from shared.vocabulary import NewsKind
from shared.wire.live import LiveEvent

RESYNC = LiveEvent(kind=NewsKind.RESYNC)
DEPTH = LiveEvent(kind=NewsKind.QUEUE_DEPTH, queue="posts")
REVOKED = LiveEvent(kind=NewsKind.LEASE_REVOKED, item_id="7")


def said(*events: LiveEvent) -> bytes:
    """Events as the server writes them."""
    return b"".join(
        f"event: {event.kind}\r\ndata: ".encode() + msgspec.json.encode(event) + b"\r\n\r\n"
        for event in events
    )


class Pieces(httpx.AsyncByteStream):
    """An answer that comes in these pieces, and may break at the end."""

    def __init__(self, pieces: Sequence[bytes | Exception]) -> None:
        self.pieces = pieces
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def aclose(self) -> None:
        self.closed = True


class Server:
    """Answers each connection in turn; after the last one, the key is refused."""

    def __init__(self, *answers: list[bytes | Exception] | httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.waited: list[float] = []
        self.streams: list[Pieces] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else refusal(ProblemCode.UNAUTHENTICATED, 401)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            return answer
        self.streams.append(Pieces(answer))
        headers = {"content-type": "text/event-stream; charset=utf-8"}
        return httpx.Response(200, headers=headers, stream=self.streams[-1])

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    async def heard(self) -> list[LiveEvent]:
        """All that a reader is told until its key is refused."""
        found: list[LiveEvent] = []
        transport = httpx.MockTransport(self.handle)
        async with FencepostClient("http://x.test", "k", transport, sleep=self.sleep) as client:
            with pytest.raises(Refused):
                async for event in client.live():
                    found.append(event)  # noqa: PERF401 - what came before a refusal counts
        return found


def refusal(code: ProblemCode, status: int, **headers: str) -> httpx.Response:
    body = msgspec.json.encode(Problem(code=code, status=status, title="No."))
    return httpx.Response(status, content=body, headers=headers)


async def test_events_come_as_they_were_told() -> None:
    server = Server([said(RESYNC, DEPTH), b": heartbeat\r\n\r\n", said(REVOKED)])
    assert await server.heard() == [RESYNC, DEPTH, REVOKED]
    request = server.requests[0]
    assert request.url.path == "/v1/stream"
    assert request.headers["accept"] == "text/event-stream"
    assert request.headers["authorization"] == "Bearer k"
    assert request.extensions["timeout"]["read"] == SILENCE
    assert server.streams[0].closed


async def test_events_survive_any_cut_of_the_bytes() -> None:
    whole = said(RESYNC, DEPTH, REVOKED)
    server = Server([bytes([byte]) for byte in whole])
    assert await server.heard() == [RESYNC, DEPTH, REVOKED]


@pytest.mark.parametrize(
    "loss",
    [[], [httpx.ReadTimeout("silent")], [httpx.RemoteProtocolError("cut")], [httpx.ReadError("x")]],
    ids=["ended", "silent", "cut", "broken"],
)
async def test_after_each_loss_it_comes_back_with_a_resync(loss: list[Exception]) -> None:
    server = Server([said(RESYNC, DEPTH), *loss], [said(RESYNC, REVOKED)])
    assert await server.heard() == [RESYNC, DEPTH, RESYNC, REVOKED]
    assert len(server.waited) == 2


async def test_a_connection_that_begins_otherwise_is_a_resync_too() -> None:
    assert await Server([said(DEPTH)]).heard() == [RESYNC, DEPTH]
    assert await Server([said(DEPTH)], [said(DEPTH)]).heard() == [RESYNC, DEPTH] * 2


async def test_it_waits_longer_each_time_and_as_long_as_it_is_asked_to() -> None:
    refused = httpx.ConnectError("refused")
    busy = refusal(ProblemCode.BUSY, 503, **{"retry-after": "30"})
    page = httpx.Response(502, text="<html>")
    server = Server(refused, refused, refused, busy, page, [said(RESYNC)])
    assert await server.heard() == [RESYNC]
    first, second, third, asked, *_ = server.waited
    assert 0.3 < first < 0.7
    assert 0.7 < second < 1.3
    assert 1.5 < third < 2.5
    assert asked == 30


async def test_what_is_not_known_is_passed_over() -> None:
    strange = b'data: {"kind":"tomorrow"}\n\ndata: no json\n\ndata\n\nretry: 5\n\n\n\nid: 3\n\n'
    grown = b'data: {"kind":"queue_depth","queue":"posts","more":[1]}\n\n'
    assert await Server([said(RESYNC), strange, grown]).heard() == [RESYNC, DEPTH]


@pytest.mark.parametrize(
    "endless",
    [[b"x" * 1_000] * 100, [b"data: " + b"x" * 1_000 + b"\n"] * 100],
    ids=["line", "event"],
)
async def test_nothing_without_end_is_read(endless: list[bytes]) -> None:
    server = Server([said(RESYNC), *endless, said(DEPTH)], [said(RESYNC)])
    assert await server.heard() == [RESYNC, RESYNC]


async def test_an_answer_of_another_kind_is_no_stream() -> None:
    page = httpx.Response(200, content=said(RESYNC), headers={"content-type": "text/html"})
    packed = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    zipped = httpx.Response(200, stream=Pieces([b"zip"]), headers=packed)
    server = Server(page, zipped, [said(RESYNC)])
    assert await server.heard() == [RESYNC]
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_may_not_listen_is_told_so(status: int) -> None:
    server = Server(refusal(ProblemCode.FORBIDDEN, status))
    assert await server.heard() == []
    assert server.waited == []


async def test_whoever_stops_reading_closes_the_connection() -> None:
    server = Server([said(RESYNC, DEPTH)])
    transport = httpx.MockTransport(server.handle)
    async with FencepostClient("http://x.test", "k", transport) as client:
        events: Any = client.live()
        assert await anext(events) == RESYNC
        await events.aclose()
    assert server.streams[0].closed

"""The HTTP client: three kinds of failure, the same key on every try, and nothing leaked."""

from __future__ import annotations

import json

import httpx
import msgspec
import pytest

from shared.client import FencepostClient, Garbled, Refused, Unreachable
from shared.client.retry import asked_for, waits
from shared.problems import Problem, ProblemCode
from shared.vocabulary import ReleaseReason
from shared.wire.content import Case, Submission
from shared.wire.item import ReopenRequest
from shared.wire.queue import ClaimRequest, ReleaseRequest
from tests.tui.fake_server import FakeServer

KEY = "fp_test_abc_c2VjcmV0"
TOKEN = "00000000-0000-4000-8000-000000000001"


class Wire:
    """Answers in turn, and keeps what was asked and waited."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.waited: list[float] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    def client(self, attempts: int = 5) -> FencepostClient:
        transport = httpx.MockTransport(self.handle)
        return FencepostClient(
            "http://127.0.0.1:1", KEY, transport, attempts=attempts, sleep=self.sleep
        )


def refusal(code: ProblemCode, status: int, **headers: str) -> httpx.Response:
    body = msgspec.json.encode(Problem(code=code, status=status, title="No."))
    return httpx.Response(status, content=body, headers=headers)


def nothing() -> httpx.Response:
    return httpx.Response(200, content=msgspec.json.encode(FakeServer().claim()))


async def test_the_key_travels_in_the_header_and_the_body_is_json() -> None:
    wire = Wire(nothing())
    async with wire.client() as client:
        await client.claim("posts", ClaimRequest(claim_key=TOKEN))
    request = wire.requests[0]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.url.path == "/v1/queues/posts/claim"
    assert json.loads(request.content) == {"claim_key": TOKEN, "terminal": None}


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("cut"),
        refusal(ProblemCode.BUSY, 503),
        refusal(ProblemCode.OUTCOME_UNKNOWN, 503),
        refusal(ProblemCode.INTERNAL, 500),
        httpx.Response(502, text="<html>"),
    ],
    ids=["connect", "timeout", "protocol", "busy", "unknown", "internal", "proxy"],
)
async def test_what_may_pass_is_tried_again_with_the_same_bytes(
    failure: httpx.Response | Exception,
) -> None:
    wire = Wire(failure, failure, nothing())
    async with wire.client() as client:
        await client.claim("posts", ClaimRequest(claim_key=TOKEN))
    assert len(wire.requests) == 3
    assert len({request.content for request in wire.requests}) == 1
    assert 0.4 <= wire.waited[0] <= 0.6
    assert 0.8 <= wire.waited[1] <= 1.2


async def test_tries_are_bounded() -> None:
    wire = Wire(httpx.ConnectError("refused"))
    async with wire.client(attempts=3) as client:
        with pytest.raises(Unreachable):
            await client.me()
    assert len(wire.requests) == 3


@pytest.mark.parametrize(
    "code", [ProblemCode.STALE_LEASE, ProblemCode.UNAUTHENTICATED, ProblemCode.INVALID_FIELD]
)
async def test_a_refusal_is_raised_at_once_with_its_problem(code: ProblemCode) -> None:
    wire = Wire(refusal(code, 409))
    async with wire.client() as client:
        with pytest.raises(Refused) as caught:
            await client.me()
    assert caught.value.code is code
    assert len(wire.requests) == 1


async def test_a_release_is_repeated_with_the_same_bytes_since_it_replays() -> None:
    wire = Wire(httpx.ReadTimeout("slow"), httpx.Response(200, content=b'{"item_id":"1"}'))
    async with wire.client() as client:
        request = ReleaseRequest(lease_token=TOKEN, reason=ReleaseReason.SIGN_OFF)
        await client.release("1", request)
    assert len(wire.requests) == 2
    assert wire.requests[0].content == wire.requests[1].content


async def test_a_reopening_is_sent_once_since_its_own_round_would_refuse_it() -> None:
    wire = Wire(httpx.ReadTimeout("slow"))
    async with wire.client() as client:
        with pytest.raises(Unreachable):
            await client.reopen("c-1", ReopenRequest())
    assert len(wire.requests) == 1


async def test_the_server_may_ask_for_a_longer_wait() -> None:
    wire = Wire(refusal(ProblemCode.BUSY, 429, **{"retry-after": "7"}), nothing())
    async with wire.client() as client:
        await client.claim("posts", ClaimRequest(claim_key=TOKEN))
    assert wire.waited == [7.0]


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"lease":3}', b"\xff", b"<html>"])
async def test_an_answer_of_another_shape_is_garbled(body: bytes) -> None:
    wire = Wire(httpx.Response(200, content=body))
    async with wire.client(attempts=1) as client:
        with pytest.raises(Garbled):
            await client.claim("posts", ClaimRequest(claim_key=TOKEN))


async def test_no_redirect_takes_the_key_elsewhere() -> None:
    elsewhere = {"location": "http://example.invalid/"}
    wire = Wire(httpx.Response(302, headers=elsewhere))
    async with wire.client(attempts=1) as client:
        with pytest.raises(Garbled):
            await client.me()
    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    "failure",
    [httpx.ConnectError(f"to {KEY}"), refusal(ProblemCode.FORBIDDEN, 403), httpx.Response(500)],
    ids=["unreachable", "refused", "garbled"],
)
async def test_no_message_echoes_the_key(failure: httpx.Response | Exception) -> None:
    wire = Wire(failure)
    async with wire.client(attempts=1) as client:
        with pytest.raises((Unreachable, Refused, Garbled)) as caught:
            await client.me()
        assert KEY not in repr(client)
    assert KEY not in f"{caught.value!r} {caught.value}"
    assert (
        caught.value.__suppress_context__
        or caught.value.__context__ is None
        or isinstance(caught.value, (Refused, Garbled))
    )


@pytest.mark.parametrize("key", ["", "a b", "a\nb", "schlüssel"])
def test_what_cannot_be_a_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        FencepostClient("http://127.0.0.1:1", key)


@pytest.mark.parametrize(
    "address", ["127.0.0.1:80", "ftp://h", "http://u:p@h", "http://h?x=1", "https://", "file:///x"]
)
def test_what_cannot_be_an_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="address"):
        FencepostClient(address, KEY)


async def test_names_in_a_path_are_quoted() -> None:
    wire = Wire(refusal(ProblemCode.NOT_FOUND, 404))
    async with wire.client() as client:
        with pytest.raises(Refused):
            await client.decision("../me?x")
    assert wire.requests[0].url.raw_path == b"/v1/content/..%2Fme%3Fx/decision"


async def test_a_batch_is_one_array_of_structs_and_raw_rows() -> None:
    wire = Wire(httpx.Response(200, content=b'{"rows":[],"created":0,"known":0,"refused":0}'))
    first = Submission(content_id="a", labels=msgspec.Raw(b'{"hate":0.5}'))
    rows: list[Submission | bytes] = [first, b'{"content_id":"b"}']
    async with wire.client() as client:
        await client.submit_batch(rows)
    sent = json.loads(wire.requests[0].content)
    assert [row["content_id"] for row in sent] == ["a", "b"]
    assert sent[0]["labels"] == {"hate": 0.5}


async def test_a_case_goes_to_its_queue() -> None:
    receipt = b'{"content_id":"k","state":"pending","created":true}'
    wire = Wire(httpx.Response(200, content=receipt))
    async with wire.client() as client:
        await client.submit_case("cases", Case(content_id="k", fields=msgspec.Raw(b'{"n":1}')))
    assert wire.requests[0].url.path == "/v1/queues/cases/items"


def test_waits_grow_to_ten_seconds_and_stay() -> None:
    found = [wait for wait, _ in zip(waits(), range(12), strict=False)]
    for wait, middle in zip(found, [0.5, 1, 2, 4, 8, *[10] * 7], strict=True):
        assert middle * 0.8 <= wait <= middle * 1.2


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("0", 0.0),
        ("9999", 60.0),
        ("soon", None),
        ("-1", None),
        ("²", None),
    ],
)
def test_retry_after_is_read_with_care(header: str | None, seconds: float | None) -> None:
    assert asked_for(header) == seconds

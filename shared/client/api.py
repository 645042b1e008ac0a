"""The one HTTP client of fencepost: a method for each endpoint, the wire's own types in and out.

Producers, the scripted reviewer and the terminal all go through here. A call that carries its own
key (or only reads) is repeated with the same key, a bounded number of times, while its failure is
one that may pass; a release is not, since a lost answer would come back as a refusal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from shared.client.errors import ClientError, Garbled
from shared.client.retry import waits
from shared.client.stream import live_events
from shared.client.transport import Exchange
from shared.wire.cockpit import Health
from shared.wire.content import BatchReceipt, Case, DecisionView, Receipt, Submission
from shared.wire.live import LiveEvent
from shared.wire.queue import (
    REPLAYED_HEADER,
    SUPERSEDED_BY_HEADER,
    ClaimAnswer,
    ClaimRequest,
    Me,
    MyLease,
    QueueView,
    Released,
    ReleaseRequest,
    Renewed,
    RenewRequest,
    VerdictAnswer,
    VerdictRequest,
)

T = TypeVar("T")
ATTEMPTS = 5
"""How often a repeatable call is tried before its error is raised: about 15 seconds in all."""


class VerdictReply(NamedTuple):
    """The answer to a verdict, and what its headers say of it."""

    answer: VerdictAnswer
    replayed: bool
    superseded_by: str | None


class FencepostClient:
    """Speaks to one server as one principal; use as an async context manager.

    Raises ValueError for an address or key that can't be one; every call may raise
    `Unreachable`, `Refused` or `Garbled`. `transport` stands in for the network in tests.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._exchange = Exchange(base_url, key, transport)
        self._attempts = attempts
        self._sleep = sleep

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()

    # producers

    async def submit(self, submission: Submission) -> Receipt:
        """Submit one content; repeating it changes nothing."""
        return await self._post("/v1/content", submission, Receipt)

    async def submit_batch(self, rows: Iterable[Submission | bytes]) -> BatchReceipt:
        """Submit up to 1,000 contents, as structs or as JSON objects already encoded."""
        parts = (row if isinstance(row, bytes) else msgspec.json.encode(row) for row in rows)
        body = b"[" + b",".join(parts) + b"]"
        return await self._call("POST", "/v1/content:batch", body, BatchReceipt)

    async def submit_case(self, queue: str, case: Case) -> Receipt:
        """Submit a case for people into `queue`; repeating it changes nothing."""
        return await self._post(f"/v1/queues/{_part(queue)}/items", case, Receipt)

    async def decision(self, content_id: str) -> DecisionView:
        """Return the state in force of a content, and why."""
        return await self._get(f"/v1/content/{_part(content_id)}/decision", DecisionView)

    # reviewers

    async def me(self) -> Me:
        """Return who the key belongs to, and the queues it may work in."""
        return await self._get("/v1/me", Me)

    async def my_lease(self) -> MyLease:
        """Return the lease that is still mine, if any."""
        return await self._get("/v1/me/lease", MyLease)

    async def queue(self, queue: str) -> QueueView:
        """Return one queue with its figures and reasons."""
        return await self._get(f"/v1/queues/{_part(queue)}", QueueView)

    async def claim(self, queue: str, request: ClaimRequest) -> ClaimAnswer:
        """Claim the next item; the same claim key returns the same lease."""
        return await self._post(f"/v1/queues/{_part(queue)}/claim", request, ClaimAnswer)

    async def renew(self, item_id: str, request: RenewRequest) -> Renewed:
        """Begin the lease's time anew."""
        return await self._post(f"/v1/items/{_part(item_id)}/renew", request, Renewed)

    async def release(self, item_id: str, request: ReleaseRequest) -> Released:
        """Give the item back undecided; sent once."""
        path = f"/v1/items/{_part(item_id)}/release"
        body = msgspec.json.encode(request)
        return await self._call("POST", path, body, Released, attempts=1)

    async def verdict(
        self, item_id: str, request: VerdictRequest, *, attempts: int | None = None
    ) -> VerdictReply:
        """Record a verdict; the same verdict token gets the same answer for ever."""
        path = f"/v1/items/{_part(item_id)}/verdict"
        data, headers = await self._persist("POST", path, msgspec.json.encode(request), attempts)
        return VerdictReply(
            _decoded(data, VerdictAnswer),
            headers.get(REPLAYED_HEADER, "").lower() in ("1", "true"),
            headers.get(SUPERSEDED_BY_HEADER),
        )

    def live(self) -> AsyncIterator[LiveEvent]:
        """Yield where to look again, for ever; a `resync` after each loss of the connection.

        Raises Refused if this key may not listen at all; every other trouble is waited out.
        """
        return live_events(self._exchange, self._sleep)

    # leads

    async def health(self) -> Health:
        """Return the figures of all queues."""
        return await self._get("/v1/health", Health)

    async def _get(self, path: str, kind: type[T]) -> T:
        return await self._call("GET", path, None, kind)

    async def _post(self, path: str, body: Any, kind: type[T]) -> T:
        return await self._call("POST", path, msgspec.json.encode(body), kind)

    async def _call(
        self, method: str, path: str, body: bytes | None, kind: type[T], attempts: int | None = None
    ) -> T:
        data, _ = await self._persist(method, path, body, attempts)
        return _decoded(data, kind)

    async def _persist(
        self, method: str, path: str, body: bytes | None, attempts: int | None
    ) -> tuple[bytes, httpx.Headers]:
        """Repeat the same bytes until answered, refused for good, or out of attempts."""
        left = self._attempts if attempts is None else attempts
        for wait in waits():
            left -= 1
            try:
                return await self._exchange.call(method, path, body)
            except ClientError as error:
                if left <= 0 or not error.worth_retrying:
                    raise
                await self._sleep(max(wait, error.retry_after or 0.0))
        raise AssertionError("the waits never end")


def _decoded(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise Garbled(200, f"not a {kind.__name__} ({type(error).__name__})") from None


def _part(name: str) -> str:
    return quote(name, safe="")

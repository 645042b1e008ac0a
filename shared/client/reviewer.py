"""What a reviewer asks of the server: an item, more time, a verdict, another day."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from shared.client.calls import Calls, asking, decoded, part
from shared.wire.evidence import LEASE_TOKEN_HEADER
from shared.wire.item import Parked, ParkRequest
from shared.wire.queue import (
    REPLAYED_HEADER,
    SUPERSEDED_BY_HEADER,
    Available,
    ClaimAnswer,
    ClaimAnyAnswer,
    ClaimAnyRequest,
    ClaimRequest,
    Me,
    MyLease,
    QueueView,
    Released,
    ReleaseRequest,
    Renewed,
    RenewRequest,
    TakeOverRequest,
    VerdictAnswer,
    VerdictRequest,
)


class VerdictReply(NamedTuple):
    """The answer to a verdict, and what its headers say of it."""

    answer: VerdictAnswer
    replayed: bool
    superseded_by: str | None


class ReviewerCalls(Calls):
    """Claim, hold and end a lease. Each call carries its own key, so that repeating it is safe."""

    async def me(self) -> Me:
        """Return who the key belongs to, and the queues it may work in."""
        return await self._get("/v1/me", Me)

    async def my_lease(self) -> MyLease:
        """Return the lease that is still mine, if any."""
        return await self._get("/v1/me/lease", MyLease)

    async def take_over(self, request: TakeOverRequest) -> MyLease:
        """Move the lease that is mine to this terminal; its token elsewhere dies."""
        return await self._post("/v1/me/lease/take-over", request, MyLease)

    async def queue(self, queue: str) -> QueueView:
        """Return one queue with its figures and reasons."""
        return await self._get(f"/v1/queues/{part(queue)}", QueueView)

    async def available(
        self, queues: Iterable[str] | None = None, wait_ms: int | None = None
    ) -> Available:
        """Wait until one of `queues` has something for me, or the time is over; lease nothing.

        Without `queues`: all that I may work in.
        """
        named = None if queues is None else list(queues)
        path = asking("/v1/available", queue=named, wait_ms=wait_ms)
        data, _ = await self._persist("GET", path, None, patience=(wait_ms or 0) / 1000)
        return decoded(data, Available)

    async def claim(self, queue: str, request: ClaimRequest) -> ClaimAnswer:
        """Claim the next item; the same claim key returns the same lease."""
        return await self._post(f"/v1/queues/{part(queue)}/claim", request, ClaimAnswer)

    async def claim_any(self, request: ClaimAnyRequest) -> ClaimAnyAnswer:
        """Claim from several queues in a fair order; the same claim key returns the same lease."""
        return await self._post("/v1/claim", request, ClaimAnyAnswer)

    async def renew(self, item_id: str, request: RenewRequest) -> Renewed:
        """Begin the lease's time anew."""
        return await self._post(f"/v1/items/{part(item_id)}/renew", request, Renewed)

    async def release(self, item_id: str, request: ReleaseRequest) -> Released:
        """Give the item back undecided."""
        return await self._post(f"/v1/items/{part(item_id)}/release", request, Released)

    async def park(self, item_id: str, request: ParkRequest) -> Parked:
        """Set the item aside until a date or new evidence."""
        return await self._post(f"/v1/items/{part(item_id)}/park", request, Parked)

    async def verdict(
        self, item_id: str, request: VerdictRequest, *, attempts: int | None = None
    ) -> VerdictReply:
        """Record a verdict; the same verdict token gets the same answer for ever."""
        path = f"/v1/items/{part(item_id)}/verdict"
        data, headers = await self._persist("POST", path, msgspec.json.encode(request), attempts)
        return VerdictReply(
            decoded(data, VerdictAnswer),
            headers.get(REPLAYED_HEADER, "").lower() in ("1", "true"),
            headers.get(SUPERSEDED_BY_HEADER),
        )

    async def read_blob(self, item_id: str, sha256: str, lease_token: str) -> bytes:
        """Return an attachment of the item that is leased with this token."""
        path = f"/v1/items/{part(item_id)}/blobs/{part(sha256)}"
        headers = {LEASE_TOKEN_HEADER: lease_token, "accept": "*/*"}
        data, _ = await self._persist("GET", path, None, headers=headers)
        return data

"""Items: what the holder of a lease may do with it, and how a lead takes it back."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from backend.api.access import needs
from backend.api.bodies import Body
from backend.api.desk import Desk
from backend.services.lease import release, renew
from backend.services.park import park
from backend.services.steady import steadily
from backend.services.take_back import take_back
from backend.services.verdict import verdict
from shared.vocabulary import Role
from shared.wire.item import Parked, ParkRequest, TakeBackRequest, TakenBack
from shared.wire.queue import (
    REPLAYED_HEADER,
    SUPERSEDED_BY_HEADER,
    Released,
    ReleaseRequest,
    Renewed,
    RenewRequest,
    VerdictAnswer,
    VerdictRequest,
)

_RENEW = Body(RenewRequest)
_RELEASE = Body(ReleaseRequest)
_PARK = Body(ParkRequest)
_TAKE_BACK = Body(TakeBackRequest)
_VERDICT = Body(VerdictRequest)
_HOLDERS = (Role.REVIEWER, Role.LEAD)


class ItemController(Controller):
    """`/v1/items/{item_id}`. The right to the item's queue is checked with the lease."""

    tags = ("item",)

    @post(
        "/v1/items/{item_id:str}/renew",
        opt=needs(*_HOLDERS) | {"body": RenewRequest},
        status_code=200,
        summary="Keep a lease alive",
    )
    async def renew(
        self, request: Request[Any, Any, Any], item_id: FromPath[str], desk: NamedDependency[Desk]
    ) -> Renewed:
        """Begin the lease's time anew, up to the queue's longest hold."""
        asked = await _RENEW.read(request)
        return await steadily(lambda: renew(desk.db, desk.policy, desk.who, item_id, asked))

    @post(
        "/v1/items/{item_id:str}/release",
        opt=needs(*_HOLDERS) | {"body": ReleaseRequest},
        status_code=200,
        summary="Give an item back undecided",
    )
    async def release(
        self, request: Request[Any, Any, Any], item_id: FromPath[str], desk: NamedDependency[Desk]
    ) -> Released:
        """Give the item back, and say why."""
        asked = await _RELEASE.read(request)
        return await steadily(lambda: release(desk.db, desk.who, item_id, asked, tell=desk.tell))

    @post(
        "/v1/items/{item_id:str}/park",
        opt=needs(*_HOLDERS) | {"body": ParkRequest},
        status_code=200,
        summary="Set an item aside and ask its producer",
    )
    async def park(
        self, request: Request[Any, Any, Any], item_id: FromPath[str], desk: NamedDependency[Desk]
    ) -> Parked:
        """Set the item aside until a date or new evidence; it comes back by itself."""
        asked = await _PARK.read(request)
        return await steadily(
            lambda: park(desk.db, desk.policy, desk.who, item_id, asked, tell=desk.tell)
        )

    @post(
        "/v1/items/{item_id:str}/take-back",
        opt=needs(Role.LEAD) | {"body": TakeBackRequest},
        status_code=200,
        summary="Take a lease back",
    )
    async def take_back(
        self, request: Request[Any, Any, Any], item_id: FromPath[str], desk: NamedDependency[Desk]
    ) -> TakenBack:
        """End the lease that the lead saw; a later one stays."""
        asked = await _TAKE_BACK.read(request)
        return await steadily(lambda: take_back(desk.db, desk.who, item_id, asked, tell=desk.tell))

    @post(
        "/v1/items/{item_id:str}/verdict",
        opt=needs(*_HOLDERS) | {"body": VerdictRequest},
        status_code=200,
        summary="Say what holds",
    )
    async def verdict(
        self, request: Request[Any, Any, Any], item_id: FromPath[str], desk: NamedDependency[Desk]
    ) -> Response[VerdictAnswer]:
        """Record a verdict once; its retry gets the same answer, and a header that says so."""
        asked = await _VERDICT.read(request)
        reply = await steadily(
            lambda: verdict(desk.db, desk.policy, desk.who, item_id, asked, tell=desk.tell)
        )
        headers = {REPLAYED_HEADER: "true"} if reply.replayed else {}
        if reply.superseded_by is not None:
            headers[SUPERSEDED_BY_HEADER] = reply.superseded_by
        return Response(reply.answer, status_code=200, headers=headers)

"""Items: what the holder of a lease may do with it."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from backend.api.access import needs
from backend.api.bodies import Body
from backend.api.desk import Desk
from backend.services.lease import release, renew
from backend.services.steady import steadily
from backend.services.verdict import verdict
from shared.vocabulary import Role
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
        return await steadily(lambda: renew(desk.db, desk.who, item_id, asked))

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
        return await steadily(lambda: release(desk.db, desk.who, item_id, asked))

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
        reply = await steadily(lambda: verdict(desk.db, desk.policy, desk.who, item_id, asked))
        headers = {REPLAYED_HEADER: "true"} if reply.replayed else {}
        if reply.superseded_by is not None:
            headers[SUPERSEDED_BY_HEADER] = reply.superseded_by
        return Response(reply.answer, status_code=200, headers=headers)

"""Bulk deeds of leads: many items in one request, with an answer for each."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, post
from litestar.di import NamedDependency

from backend.api.access import needs
from backend.api.bodies import Body
from backend.api.desk import Desk
from backend.services.move import move
from backend.services.wake import wake_items
from backend.services.withdraw import withdraw_items
from shared.vocabulary import Role
from shared.wire.item import BulkAnswer, MoveRequest, WakeItemsRequest, WithdrawItemsRequest

_MOVE = Body(MoveRequest)
_WAKE = Body(WakeItemsRequest)
_WITHDRAW = Body(WithdrawItemsRequest)


class BulkController(Controller):
    """`/v1/items:move`, `/v1/items:wake` and `/v1/items:withdraw`.

    The services repeat what was surely not done by themselves, chunk by chunk: repeated as a whole
    they would tell of what they had done before as unchanged.
    """

    tags = ("item",)

    @post(
        "/v1/items:move",
        opt=needs(Role.LEAD) | {"body": MoveRequest},
        status_code=200,
        summary="Move items to another queue",
    )
    async def move(
        self, request: Request[Any, Any, Any], desk: NamedDependency[Desk]
    ) -> BulkAnswer:
        """Move up to 500 items, whoever holds them; a row for each id, in the order asked."""
        asked = await _MOVE.read(request)
        return await move(desk.db, desk.policy, desk.who, asked, tell=desk.tell)

    @post(
        "/v1/items:wake",
        opt=needs(Role.LEAD) | {"body": WakeItemsRequest},
        status_code=200,
        summary="Bring parked items back before their time",
    )
    async def wake(
        self, request: Request[Any, Any, Any], desk: NamedDependency[Desk]
    ) -> BulkAnswer:
        """Wake up to 500 items; one that is not parked is left as it is."""
        asked = await _WAKE.read(request)
        return await wake_items(desk.db, desk.who, asked, tell=desk.tell)

    @post(
        "/v1/items:withdraw",
        opt=needs(Role.LEAD) | {"body": WithdrawItemsRequest},
        status_code=200,
        summary="Withdraw items that nobody needs to look at any more",
    )
    async def withdraw(
        self, request: Request[Any, Any, Any], desk: NamedDependency[Desk]
    ) -> BulkAnswer:
        """Withdraw up to 500 items; what they led to before them holds again."""
        asked = await _WITHDRAW.read(request)
        return await withdraw_items(desk.db, desk.who, asked, tell=desk.tell)

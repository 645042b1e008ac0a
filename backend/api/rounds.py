"""Rounds of work on a content: its producer takes it back, a lead lets people look again."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from backend.api.access import needs
from backend.api.bodies import Body
from backend.api.desk import Desk
from backend.services.reopen import reopen
from backend.services.steady import steadily
from backend.services.withdraw import withdraw_content
from shared.vocabulary import Role
from shared.wire.item import Reopened, ReopenRequest, Withdrawn

_REOPEN = Body(ReopenRequest)


class RoundController(Controller):
    """`/v1/content/{content_id}/withdraw` and `/reopen`."""

    tags = ("content",)

    @post(
        "/v1/content/{content_id:str}/withdraw",
        opt=needs(Role.PRODUCER),
        status_code=200,
        summary="Take a content back: nobody needs to look any more",
    )
    async def withdraw(self, content_id: FromPath[str], desk: NamedDependency[Desk]) -> Withdrawn:
        """Withdraw a content and its open item; the same request gets the same answer. No body."""
        return await steadily(
            lambda: withdraw_content(desk.db, desk.who, content_id, tell=desk.tell)
        )

    @post(
        "/v1/content/{content_id:str}/reopen",
        opt=needs(Role.LEAD) | {"body": ReopenRequest},
        status_code=201,
        summary="Let people look again",
    )
    async def reopen(
        self,
        request: Request[Any, Any, Any],
        content_id: FromPath[str],
        desk: NamedDependency[Desk],
    ) -> Reopened:
        """Open the next round of a content; what was decided stays in force meanwhile."""
        asked = await _REOPEN.read(request)
        return await steadily(
            lambda: reopen(desk.db, desk.policy, desk.who, content_id, asked, tell=desk.tell)
        )

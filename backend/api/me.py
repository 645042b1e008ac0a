"""Who I am, what I may work in, and what I hold."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, get, post
from litestar.di import NamedDependency

from backend.api.access import EVERYBODY, needs
from backend.api.bodies import Body
from backend.api.desk import Desk
from backend.services.claim import my_lease, my_queues
from backend.services.steady import steadily
from backend.services.take_over import take_over
from shared.vocabulary import Role
from shared.wire.queue import Me, MyLease, TakeOverRequest

_TAKE_OVER = Body(TakeOverRequest)


class MeController(Controller):
    """`/v1/me`."""

    tags = ("me",)

    @get("/v1/me", opt=needs(*EVERYBODY), summary="Whose key this is")
    async def me(self, desk: NamedDependency[Desk]) -> Me:
        """Return the principal, his roles, and the queues that he may work in."""
        queues = await steadily(lambda: my_queues(desk.db, desk.policy, desk.who))
        return Me(
            name=desk.who.name,
            principal_id=str(desk.who.principal_id),
            roles=tuple(role for role in Role if desk.who.has(role)),
            queues=queues,
            policy_version=desk.policy.version,
        )

    @get("/v1/me/lease", opt=needs(Role.REVIEWER, Role.LEAD), summary="The lease that I hold")
    async def lease(self, desk: NamedDependency[Desk]) -> MyLease:
        """Return the lease that is still mine, if any."""
        return await steadily(lambda: my_lease(desk.db, desk.policy, desk.who))

    @post(
        "/v1/me/lease/take-over",
        opt=needs(Role.REVIEWER, Role.LEAD) | {"body": TakeOverRequest},
        status_code=200,
        summary="Go on at another terminal",
    )
    async def take_over(
        self, request: Request[Any, Any, Any], desk: NamedDependency[Desk]
    ) -> MyLease:
        """Give my lease a new token, here; the terminal that had it can't decide any more."""
        asked = await _TAKE_OVER.read(request)
        return await steadily(
            lambda: take_over(desk.db, desk.policy, desk.who, asked, tell=desk.tell)
        )

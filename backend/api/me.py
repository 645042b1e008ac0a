"""Who I am, what I may work in, and what I hold."""

from __future__ import annotations

from litestar import Controller, get
from litestar.di import NamedDependency

from backend.api.access import EVERYBODY, needs
from backend.api.desk import Desk
from backend.services.claim import my_lease, my_queues
from backend.services.steady import steadily
from shared.vocabulary import Role
from shared.wire.queue import Me, MyLease


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

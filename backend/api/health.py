"""Health: figures for leads, and two plain answers for whoever runs the process."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Controller, Request, get
from litestar.di import NamedDependency

from backend.api.access import needs, open_to_all
from backend.api.desk import Desk
from backend.db.connection import Database
from backend.services import cockpit
from backend.services.policies import refuse_unready
from backend.services.steady import steadily
from shared.vocabulary import Role
from shared.wire.cockpit import Health


class Answer(msgspec.Struct, frozen=True):
    """Answer to `GET /healthz` and `GET /readyz`."""

    status: str


class HealthController(Controller):
    """`/v1/health`, `/healthz` and `/readyz`."""

    tags = ("health",)

    @get("/v1/health", opt=needs(Role.LEAD), summary="The health of the queues")
    async def health(self, desk: NamedDependency[Desk]) -> Health:
        """Return the figures of the queues that the asker leads, as of one moment."""
        return await steadily(lambda: cockpit.health(desk.db, desk.policy, desk.who))

    @get("/healthz", opt=open_to_all(), summary="Whether the process answers")
    async def alive(self) -> Answer:
        """Answer; nothing else is looked at."""
        return Answer("ok")

    @get("/readyz", opt=open_to_all(), summary="Whether requests can be served")
    async def ready(self, request: Request[Any, Any, Any]) -> Answer:
        """Answer 200 if the database is there and has a policy in force, else 503."""
        db: Database = request.app.state.db
        await steadily(lambda: refuse_unready(db))
        return Answer("ready")

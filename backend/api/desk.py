"""What a handler is given: the database, who asks, and the policy in force."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request

from backend.db.connection import Database
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.services.news import Tell
from backend.services.policies import ActivePolicy
from backend.services.steady import steadily


class Desk(msgspec.Struct, frozen=True):
    """Everything that a service needs to work for one request."""

    db: Database
    who: Identity
    policy: Policy
    tell: Tell


async def open_desk(request: Request[Any, Any, Any]) -> Desk:
    """Return the desk of one request. Raises Busy if no policy is in force."""
    db: Database = request.app.state.db
    policies: ActivePolicy = request.app.state.policies
    who: Identity = request.user
    policy = await steadily(lambda: policies.of(who.tenant_id))
    return Desk(db, who, policy, request.app.state.tell)

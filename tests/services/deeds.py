"""Deeds of people that several tests need, and what is written down of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from msgspec import structs

from backend.domain.identity import Grant, Identity
from backend.services.lease import release
from backend.services.news import News
from backend.services.park import park
from backend.services.policies import activate, shipped_policy
from backend.services.questions import questions
from backend.services.take_back import take_back
from backend.services.take_over import take_over
from shared.vocabulary import NewsKind, ParkReason, ReleaseReason, Role, TakeBackReason
from shared.wire.item import Parked, ParkRequest, Questions, TakeBackRequest, TakenBack
from shared.wire.queue import Lease, ReleaseRequest, TakeOverRequest
from tests.support.desk import Desk, new_key

LAPSED = timedelta(minutes=4)
"""Longer than a lease."""


class Told:
    """Keeps the news that a service tells."""

    def __init__(self) -> None:
        self.news: list[News] = []

    def __call__(self, news: News) -> None:
        self.news.append(news)

    @property
    def queues(self) -> list[str]:
        """Return the queues whose depth was said to have changed."""
        return [n.queue or "" for n in self.news if n.kind is NewsKind.QUEUE_DEPTH]

    @property
    def revoked(self) -> list[tuple[int | None, int | None]]:
        """Return the items and the persons whose tokens were said to have died."""
        return [(n.item_pk, n.principal_id) for n in self.news if n.kind is NewsKind.LEASE_REVOKED]


async def give_up(
    desk: Desk, who: Identity, lease: Lease, reason: ReleaseReason = ReleaseReason.TECH
) -> None:
    """Give an item back."""
    request = ReleaseRequest(lease_token=lease.lease_token, reason=reason)
    await release(desk.db, who, lease.item_id, request)


async def set_aside(desk: Desk, who: Identity, lease: Lease, **said: Any) -> Parked:
    """Park an item; `said` are fields of the request."""
    reason = said.pop("reason", ParkReason.AWAIT_PRODUCER)
    tell = said.pop("tell", Told())
    request = ParkRequest(lease_token=lease.lease_token, reason=reason, **said)
    return await park(desk.db, desk.policy, who, lease.item_id, request, tell=tell)


async def asked_about(desk: Desk, who: Identity, content_id: str) -> Questions:
    """Return what was asked about a content, as `who` would read it if he audited everything."""
    auditing = structs.replace(who, grants=(Grant(role=Role.AUDITOR, queue=None),))
    return await questions(desk.db, auditing, content_id)


async def go_on_at(
    desk: Desk, who: Identity, terminal: str = "second", key: str | None = None
) -> Lease:
    """Take the lease of `who` over, which he must have, and return it."""
    request = TakeOverRequest(claim_key=key or new_key(), terminal=terminal)
    lease = (await take_over(desk.db, desk.policy, who, request)).lease
    assert lease is not None
    return lease


async def fetch_back(
    desk: Desk, lead: Identity, lease: Lease, epoch: int = 1, tell: Told | None = None
) -> TakenBack:
    """Take a lease back from its holder."""
    request = TakeBackRequest(lease_epoch=epoch, reason=TakeBackReason.HOLDER_AWAY)
    return await take_back(desk.db, lead, lease.item_id, request, tell=tell or Told())


async def history(desk: Desk) -> list[tuple[str, int]]:
    """Return what the lease log holds: the happenings with their epochs, oldest first."""
    rows = await desk.admin.fetch("SELECT happening, lease_epoch FROM lease_log ORDER BY id")
    return [(row["happening"], row["lease_epoch"]) for row in rows]


async def stranger(desk: Desk, role: Role = Role.LEAD) -> Identity:
    """Make somebody of another tenant, where the same policy is in force."""
    tenant = await desk.value("INSERT INTO tenant (name) VALUES ('other') RETURNING id")
    await activate(desk.db, tenant, shipped_policy())
    who = await desk.person("stranger", role)
    await desk.admin.execute(
        "UPDATE principal SET tenant_id = $1 WHERE id = $2", tenant, who.principal_id
    )
    return structs.replace(who, tenant_id=tenant, tenant="other")

"""The real thing beside the model: a database of a machine's own, in which seconds are counted."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import asyncpg

from backend.db.connection import Database
from backend.domain.identity import Identity
from backend.domain.policy import Policy, parse_policy
from shared.vocabulary import Role
from tests.model.reference.records import TERMS, Terms
from tests.support.desk import Desk, set_up_desk
from tests.support.postgres import TEMPLATE, Cluster, Dsn

EVERYWHERE = frozenset(TERMS)
POSTS = frozenset({"posts"})
STAFF = {"ana": EVERYWHERE, "ben": EVERYWHERE, "cid": POSTS, "dot": EVERYWHERE, "eve": POSTS}
LEADS = frozenset({"dot", "eve"})
COUNTED_CLOCK = """
CREATE OR REPLACE FUNCTION fencepost.clock() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS $$ SELECT timestamptz '2030-01-01T00:00:00Z' + (SELECT shift FROM fencepost.test_clock) $$;
"""
SEARCH_PATH = {"search_path": "fencepost"}
_HEAD = """
version = "model-1"
title = "Short times"
[routes]
default = "posts"
[rank]
severity = 10
exposure = 1
age_per_minute = 0.1234567
[categories.hate]
title = "Hate"
severity = 60
low = 0.20
high = 0.95
[categories.spam]
title = "Spam"
severity = 20
low = 0.20
high = 0.95
[scorers.producer]
categories = ["hate", "spam"]
[reasons]
fine = { title = "Breaks no rule", verdicts = ["approve"] }
mild = { title = "A little", verdicts = ["limit"] }
bad = { title = "Breaks a rule", verdicts = ["reject"] }
gap = { title = "No rule covers it", verdicts = ["escalate"] }
"""
REASONS = {"approve": {"fine"}, "limit": {"mild"}, "reject": {"bad"}, "escalate": {"gap"}}


def policy_text(terms: dict[str, Terms] = TERMS) -> str:
    """Write the model's terms down as a policy."""
    return _HEAD + "".join(_queue(name, each) for name, each in terms.items())


def _queue(name: str, terms: Terms) -> str:
    above = f'escalation_queue = "{terms.above}"\n' if terms.above else ""
    offered = ", ".join(f'"{verdict}"' for verdict in terms.verdicts)
    return (
        f'[queues.{name}]\ntitle = "{name}"\nverdicts = [{offered}]\n{above}'
        f"lease_ttl_ms = {terms.ttl * 1000}\nmax_hold_ms = {terms.hold * 1000}\n"
        f"late_cap_ms = {terms.late_cap * 1000}\nundo_window_ms = {terms.undo * 1000}\n"
        f"release_cooldown_ms = {terms.cooldown * 1000}\nescalation_boost = {terms.boost}\n"
        f"abandon_threshold = {terms.threshold}\nsla_ms = {terms.sla * 1000}\n"
        f"max_park_ms = {terms.park * 1000}\n"
        f"reopen_on_evidence = {str(terms.reopens).lower()}\n"
        f"draining = {str(terms.draining).lower()}\n"
    )


class Ground:
    """A template with a policy, people and a counted clock, from which machines get databases."""

    def __init__(
        self, cluster: Cluster, template: Dsn, people: list[Identity], producer: Identity
    ) -> None:
        self.cluster = cluster
        self.template = template
        self.people = people
        self.producer = producer
        self.policy: Policy = parse_policy(policy_text())

    @contextlib.asynccontextmanager
    async def desk(self, *, size: int = 2) -> AsyncIterator[Desk]:
        """Open a database of one's own, in the loop that is running."""
        dsn = await self.cluster.empty()
        server = await asyncpg.connect(self.cluster.server.url())
        try:
            await copy(server, dsn.name, self.template.name)
            try:
                async with _desk(dsn, self.policy, size) as desk:
                    yield desk
            finally:
                await server.execute(f"DROP DATABASE {dsn.name} WITH (FORCE)")
        finally:
            await server.close()


@contextlib.asynccontextmanager
async def _desk(dsn: Dsn, policy: Policy, size: int) -> AsyncIterator[Desk]:
    admin = await asyncpg.connect(dsn.admin, server_settings=SEARCH_PATH)
    try:
        async with Database(dsn.runtime, size=size, durable=False, true_clock=False) as database:
            yield Desk(database, admin, policy)
    finally:
        await admin.close()


async def copy(server: asyncpg.Connection[Any], name: str, template: str) -> None:
    await server.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY wal_log")


Staff = Mapping[str, frozenset[str]]


async def prepare(cluster: Cluster, *, staff: Staff = STAFF, counted: bool = True) -> Ground:
    """Make the template. With `counted` time stands still until somebody counts on."""
    dsn = await cluster.empty()
    server = await asyncpg.connect(cluster.server.url())
    await copy(server, dsn.name, TEMPLATE)
    await server.close()
    admin = await asyncpg.connect(dsn.admin, server_settings=SEARCH_PATH)
    async with Database(dsn.runtime, durable=False, true_clock=False) as database:
        desk = await set_up_desk(database, admin, policy_text())
        people = [await _person(desk, name, rooms) for name, rooms in staff.items()]
        producer = await desk.person("pam", Role.PRODUCER)
    if counted:
        await admin.execute("SET ROLE fencepost_owner")
        await admin.execute(COUNTED_CLOCK)
    await admin.close()
    return Ground(cluster, dsn, people, producer)


async def _person(desk: Desk, name: str, rooms: frozenset[str]) -> Identity:
    """Make a person who may work everywhere, or in the one queue that is named."""
    queue = None if rooms == EVERYWHERE else min(rooms)
    return await desk.person(name, Role.LEAD if name in LEADS else Role.REVIEWER, queue=queue)

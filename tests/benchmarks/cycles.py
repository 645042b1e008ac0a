"""Claim and verdict through HTTP, with keys, over `pgbench` with the same SQL, server and rows."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

import asyncpg
import msgspec

from backend.db.connection import Database
from backend.services.keys import create
from backend.services.policies import activate, shipped_policy
from backend.services.submit import submit
from shared.vocabulary import KeyEnv, Role, Verdict
from tests.benchmarks.frame import Figure, figure
from tests.benchmarks.http_load import cycles_per_second, reviewers
from tests.benchmarks.pgbench import Work, cycle_script, defined, run
from tests.benchmarks.stock import Stock
from tests.support.gateway import identified, row
from tests.support.postgres import Dsn
from tests.support.served import serving

QUEUE = "posts"
_BATCH = 1_000
_JUDGED = 16
_TARGETS = {16: 0.75, 64: 2.0}
_Rate: TypeAlias = Callable[[], Awaitable[float]]
_BAND = {"offensive": 0.5}
"""Scores that need a person."""


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """How many items there are to decide, and how long a side of each round works on them."""

    items: int
    seconds: int
    rounds: int


class Desk:
    """A server in a process of its own, people with keys, and a queue that waits for them."""

    def __init__(self, dsn: Dsn, port: int, keys: list[str], work: Work) -> None:
        self.dsn = dsn
        self.work = work
        self._port = port
        self._keys = keys

    async def rate(self, clients: int, seconds: int) -> float:
        """Return the cycles a second of so many people; they hold nothing afterwards."""
        async with reviewers(self._port, self._keys[:clients], QUEUE) as people:
            rate = await cycles_per_second(people, self.work.reason, seconds)
        await _let_go(self.dsn)
        return rate


@contextlib.asynccontextmanager
async def desk(stock: Stock, *, items: int, people: int) -> AsyncIterator[Desk]:
    """Fill a database with items through the gateway, and serve it to so many people."""
    dsn = await stock.empty("bench_cycles")
    async with Database(dsn.runtime, size=4) as db:
        keys, work = await prepared(dsn, db, items=items, people=people)
    async with serving(dsn.runtime, "--without-applier") as port:
        yield Desk(dsn, port, keys, work)


async def cycles(stock: Stock, shift: Shift, *, at_once: tuple[int, ...]) -> AsyncIterator[Figure]:
    """Yield `cycle_http_<n>` for each number of connections."""
    async with desk(stock, items=shift.items, people=max(at_once)) as made:
        script, defines = cycle_script(made.work), defined(made.work)
        for clients in at_once:

            async def raw(clients: int = clients) -> float:
                url = made.dsn.runtime
                ran = await run(
                    stock.server, url, script, defines, clients=clients, seconds=shift.seconds
                )
                return ran.rate

            ours = partial(made.rate, clients, shift.seconds)
            size = f"{shift.items:,} items, {clients} connections, {shift.seconds} s a side"
            async for told in _compared(clients, ours, raw, shift.rounds, size):
                yield told


async def _compared(
    clients: int, ours: _Rate, raw: _Rate, rounds: int, size: str
) -> AsyncIterator[Figure]:
    """Run both sides in turn, the first one changing."""
    rates, ratios = [], []
    for turn in range(rounds):
        if turn % 2:
            mine, theirs = await ours(), await raw()
        else:
            theirs, mine = await raw(), await ours()
        rates.append(mine)
        ratios.append(mine / theirs)
    name, stretch = f"cycle_http_{clients}", clients != _JUDGED
    target = _TARGETS[clients]
    yield figure(name, ratios, target=(">=", target), size=size, stretch=stretch)
    yield figure(f"{name}_rate", rates, "cycles/s", size=size)


async def prepared(dsn: Dsn, db: Database, *, items: int, people: int) -> tuple[list[str], Work]:
    """Fill a database through the gateway, and make people: some with keys, some for pgbench."""
    policy = await activate(db, 1, shipped_policy())
    producer = await identified(
        db, await create(db, "producer", "service", Role.PRODUCER, None, KeyEnv.TEST)
    )
    for first in range(0, items, _BATCH):
        places = range(first, min(first + _BATCH, items))
        rows = [row(f"b-{place}", _BAND, text="x" * 200) for place in places]
        receipts = await submit(db, policy, producer, rows)
        assert all(one.queue == QUEUE for one in receipts), "these need a person"
    keys = [
        await create(db, f"r{n}", "person", Role.REVIEWER, None, KeyEnv.LIVE) for n in range(people)
    ]
    admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
    try:
        first_person: int = await admin.fetchval("SELECT max(id) + 1000 FROM principal")
        await admin.execute(
            "INSERT INTO principal (id, tenant_id, name, kind) OVERRIDING SYSTEM VALUE"
            " SELECT $1::bigint + n, 1, 'raw-' || n, 'person'"
            " FROM generate_series(0, $2::int) AS n",
            first_person,
            people,
        )
        await admin.execute("VACUUM ANALYZE")
        await admin.execute("CHECKPOINT")
    finally:
        await admin.close()
    reason = policy.admitted(QUEUE, Verdict.APPROVE)[0].code
    work = Work(
        queue=QUEUE, reason=reason, policy_version=policy.version, first_person=first_person
    )
    return keys, work


async def _let_go(dsn: Dsn) -> None:
    """Give back what reviewers hold at the end of a round, so that they can claim again."""
    admin: asyncpg.Connection[Any] = await asyncpg.connect(
        dsn.admin, server_settings={"search_path": "fencepost"}
    )
    try:
        await admin.execute(
            "UPDATE item SET state = 'queued', owner = NULL, fence_token = NULL, claim_key = NULL,"
            " terminal = NULL, leased_at = NULL, lease_expires = NULL,"
            " lease_epoch = lease_epoch + 1"
            " WHERE owner IS NOT NULL AND state = 'leased'"
        )
    finally:
        await admin.close()

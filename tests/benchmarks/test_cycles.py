"""The raw side of the cycles: `pgbench` runs what the services send, and writes what they write."""

from __future__ import annotations

from typing import Any

import asyncpg

from backend.db.connection import Database
from tests.benchmarks.cycles import prepared
from tests.benchmarks.pgbench import cycle_script, defined, run
from tests.support.postgres import Cluster, Dsn

CLIENTS = 3
TRANSACTIONS = 5


async def test_each_raw_cycle_is_one_decision_with_all_that_it_leaves(
    cluster: Cluster, dsn: Dsn, admin: asyncpg.Connection[Any], database: Database
) -> None:
    _, work = await prepared(dsn, database, items=30, people=CLIENTS)
    told = "SELECT count(*) FROM event WHERE type = 'decision.recorded'"
    before = await admin.fetchval(told)
    ran = await run(
        cluster.server,
        dsn.runtime,
        cycle_script(work),
        defined(work),
        clients=CLIENTS,
        transactions=TRANSACTIONS,
    )
    assert ran.rate > 0
    done = CLIENTS * TRANSACTIONS
    for table in ("verdict_reply", "pending_apply"):
        assert await admin.fetchval(f"SELECT count(*) FROM {table}") == done
    assert await admin.fetchval(told) - before == done
    linked = await admin.fetchval(
        "SELECT count(*) FROM item i JOIN decision d ON d.item_id = i.id"
        " JOIN content n ON n.id = i.content_id AND n.head_decision = d.id"
        " JOIN event e ON e.content_id = n.id AND e.seq = n.seq AND e.hash = n.chain_head"
        " WHERE i.state = 'resolved' AND e.type = 'decision.recorded'"
    )
    assert linked == done

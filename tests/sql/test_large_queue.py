"""The plans of a claim on a queue as large as was promised: 5,000 leased before a million waiting.

It takes two minutes to fill, so it runs in the --full tier; `test_claim_plans` shows the same on a
small queue each time.
"""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from tests.sql.conftest import CROWDED
from tests.sql.crowd import CLAIMER, LEASED_ITEM, QUEUED, make_past, make_present
from tests.sql.plans import MODES, plan_of, read_whole
from tests.sql.test_claim_plans import CLAIM, CLAIM_BUFFERS, CLAIM_FILTERED, FINDS
from tests.support.postgres import Cluster

WAITING, LEASED = 1_000_000, 5_000
LOOK = {"tenant_ids": "'{1}'", "queues": "'{posts}'", "principal_ids": f"'{{{CLAIMER}}}'"}
ORDER = {"tenant_id": "1", "queues": "'{posts}'"}


@pytest.mark.fault
@pytest.mark.timeout(900)
async def test_a_claim_from_a_million_touches_as_little_as_from_a_thousand(
    cluster: Cluster,
) -> None:
    dsn = await cluster.clone()
    admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
    runtime = await asyncpg.connect(dsn.runtime)
    for table in CROWDED:
        await admin.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    await make_past(admin, runtime)
    await admin.execute("ANALYZE")
    await make_present(admin, queued=WAITING, leased=LEASED)
    try:
        for measured in ("while nothing waited", "now"):
            if measured == "now":
                await admin.execute("ANALYZE")
            for mode in MODES:
                await look(admin, mode)
    finally:
        await runtime.close()
        await admin.close()
        await cluster.drop(dsn)


async def look(admin: Any, mode: str) -> None:
    plan = await plan_of(admin, "claim", "claim_next", CLAIM, mode)
    assert plan.indexes("item") == FINDS | {"item_pkey"}
    assert read_whole(plan) == set()
    assert plan.buffers <= CLAIM_BUFFERS
    assert 20 <= plan.removed() <= CLAIM_FILTERED
    for name, values, most in (("find_claimable", LOOK, 150), ("fair_order", ORDER, 30)):
        plan = await plan_of(admin, "claim", name, values, mode)
        assert read_whole(plan) == set()
        assert plan.buffers <= most
    leased = LEASED_ITEM + WAITING - QUEUED
    token = await admin.fetchval("SELECT fence_token FROM item WHERE id = $1", leased)
    assert token is not None
    fence = {
        "tenant_id": "1",
        "item_id": str(leased),
        "fence_token": f"'{token}'",
        "principal_id": "1",
        "verdict_token": "gen_random_uuid()",
    }
    plan = await plan_of(admin, "verdict", "lock_for_verdict", fence, mode)
    assert plan.indexes("item") == {"item_pkey"}
    assert plan.buffers <= 60

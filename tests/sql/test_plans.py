"""The plans that the figures of the queue rest on, on a crowded queue and whatever was measured.

`late`: statistics are as fresh as autovacuum keeps them. `early`: they were taken while nobody had
anything to do, as after a night. `never`: there are none. Each with the plan that the server makes
for all values alike and with the one that it makes for these.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tests.sql.crowd import (
    CLAIMER,
    FIRST_HOLDER,
    FIRST_ITEM,
    LEASED,
    QUEUED,
    RESOLVED,
    make_past,
    make_present,
)
from tests.sql.plans import MODES, Plan, plan_of
from tests.support.postgres import Cluster

Connection = Any
CLAIM = {
    "tenant_id": "1",
    "queue": "'posts'",
    "principal_id": str(CLAIMER),
    "claim_key": "gen_random_uuid()",
}
SMALL = {"queue", "tenant"}
"""Tables of a few rows, which are rightly read from end to end."""
LEASED_ITEM = FIRST_ITEM + RESOLVED + QUEUED
RUN_OUT = 30
WATCHED = ("item", "content", "evidence", "exclusion", "decision", "lease_log", "pending_apply")

each_mode = pytest.mark.parametrize("mode", MODES)
with_statistics = pytest.mark.parametrize("crowd", ["late", "early"], indirect=True)


@pytest.fixture(scope="module", params=["late", "early", "never"])
async def crowd(cluster: Cluster, request: pytest.FixtureRequest) -> AsyncIterator[Connection]:
    """A superuser in a crowded database."""
    dsn = await cluster.clone()
    admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
    runtime = await asyncpg.connect(dsn.runtime)
    for table in (*WATCHED, "principal"):
        await admin.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    await make_past(admin, runtime)
    if request.param == "early":
        await admin.execute("ANALYZE")
    await make_present(admin)
    if request.param == "late":
        await admin.execute("ANALYZE")
    yield admin
    await runtime.close()
    await admin.close()
    await cluster.drop(dsn)


def read_whole(plan: Plan) -> set[str]:
    return {node.table for node in plan.whole()} - SMALL


@each_mode
async def test_a_claim_walks_the_ordered_backlog_and_what_ran_out(
    crowd: Connection, mode: str
) -> None:
    plan = await plan_of(crowd, "claim", "claim_next", CLAIM, mode)
    # What the person holds is looked up inside holds_lease, whose cost counts in `plan.buffers`.
    assert plan.indexes("item") == {"item_queued", "item_leased", "item_pkey"}
    assert read_whole(plan) == set()


@each_mode
async def test_a_claim_costs_the_same_however_much_waits_or_is_leased(
    crowd: Connection, mode: str
) -> None:
    plan = await plan_of(crowd, "claim", "claim_next", CLAIM, mode)
    assert plan.most("item") <= 21  # the first twenty are not for this person
    assert plan.sorted() <= 2
    assert plan.buffers <= 300  # 170 here; a walk over all leases makes it 400


@each_mode
async def test_a_claim_gives_back_at_most_fifty_and_pays_for_each_alone(
    crowd: Connection, mode: str
) -> None:
    async with undone(crowd):
        await crowd.execute(
            "UPDATE item SET lease_expires = now() - interval '1 minute'"
            " WHERE id BETWEEN $1 AND $2",
            LEASED_ITEM,
            LEASED_ITEM + RUN_OUT - 1,
        )
        plan = await plan_of(crowd, "claim", "claim_next", CLAIM, mode)
    assert plan.most("item") <= RUN_OUT + 21
    assert plan.buffers <= 300 + 60 * RUN_OUT


@each_mode
async def test_what_somebody_holds_is_found_by_him_alone(crowd: Connection, mode: str) -> None:
    who = {"principal_id": str(FIRST_HOLDER)}
    plan = await plan_of(crowd, "claim", "find_my_lease", who, mode)
    assert plan.indexes("item") == {"item_owner"}
    assert read_whole(plan) == set()
    assert plan.buffers <= 40


@pytest.mark.parametrize(
    ("noun", "name", "more"),
    [
        ("verdict", "lock_for_verdict", {"tenant_id": "1"}),
        ("lease", "renew_lease", {"principal_id": str(FIRST_HOLDER)}),
        (
            "lease",
            "release_lease",
            {"principal_id": str(FIRST_HOLDER), "reason": "'tech'", "counts": "false"},
        ),
        (
            "verdict",
            "decide_item",
            {
                "tenant_id": "1",
                "content_id": str(LEASED_ITEM),
                "principal_id": str(FIRST_HOLDER),
                "kind": "'verdict'",
                "actor": "'reviewer'",
                "verdict": "'approve'",
                "outcome": "'allow'",
                "reason": "'fine'",
                "evidence_hash": f"sha256('{LEASED_ITEM}')",
                "verdict_token": "gen_random_uuid()",
                "supersedes": "NULL",
                "apply_after": "now()",
                "late_by": "'0'",
                "seen": "NULL",
                "dwell": "NULL",
                "renderer": "NULL",
                "policy_version": "'p-1'",
                "model_version": "NULL",
                "note": "'said'",
            },
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@each_mode
async def test_the_fence_goes_through_the_primary_key_alone(
    crowd: Connection, noun: str, name: str, more: dict[str, str], mode: str
) -> None:
    token = await crowd.fetchval("SELECT fence_token FROM item WHERE id = $1", LEASED_ITEM)
    values = {"item_id": str(LEASED_ITEM), "fence_token": f"'{token}'", **more}
    plan = await plan_of(crowd, noun, name, values, mode)
    assert plan.indexes("item") == {"item_pkey"}
    assert read_whole(plan) == set()
    assert plan.most("item") == 1
    assert plan.buffers <= 150


@each_mode
async def test_the_figures_of_a_queue_are_read_from_indexes(crowd: Connection, mode: str) -> None:
    who = {key: CLAIM[key] for key in ("tenant_id", "queue", "principal_id")}
    plan = await plan_of(crowd, "claim", "queue_figures", who, mode)
    assert read_whole(plan) == set()
    assert plan.most("item") <= QUEUED + LEASED


@each_mode
async def test_the_health_screen_is_read_from_indexes(crowd: Connection, mode: str) -> None:
    plan = await plan_of(crowd, "health", "queue_health", {"tenant_id": "1"}, mode)
    assert read_whole(plan) == set()
    plan = await plan_of(crowd, "health", "lease_counts", {"tenant_id": "1"}, mode)
    assert plan.indexes("item") == {"item_touched"}
    assert read_whole(plan) == set()


@with_statistics
@each_mode
async def test_what_takes_effect_and_what_is_late_is_found_from_what_waits(
    crowd: Connection, mode: str
) -> None:
    for noun, name, values in (
        ("apply", "lock_due", {"limit": "50"}),
        ("health", "effect_health", {"tenant_id": "1", "grace": "'5 minutes'"}),
    ):
        plan = await plan_of(crowd, noun, name, values, mode)
        assert not read_whole(plan) & {"decision", "content", "applied"}
        assert plan.buffers <= 250


class undone:  # noqa: N801 - reads as a word where it is used
    """A transaction that ends as if it had never been."""

    def __init__(self, connection: Connection) -> None:
        self._transaction = connection.transaction()

    async def __aenter__(self) -> None:
        await self._transaction.start()

    async def __aexit__(self, *_: object) -> None:
        await self._transaction.rollback()

"""The plans by which items are brought out of a closed queue, and by which a policy is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.plans import MODES, Plan, plan_of

SMALL = {"queue", "tenant"}
"""Tables of a few rows, which are rightly read from end to end."""
OF_ONE_QUEUE = {
    "item_queued",
    "item_queued_since",
    "item_leased",
    "item_leased_since",
    "item_parked",
    "item_abandoned",
}
each_mode = pytest.mark.parametrize("mode", MODES)


def read_whole(plan: Plan) -> set[str]:
    return {node.table for node in plan.whole()} - SMALL


@each_mode
async def test_a_look_for_strays_costs_next_to_nothing(crowd: Any, mode: str) -> None:
    """Each second in every process, and nearly always there is none."""
    await crowd.execute(
        "INSERT INTO queue (tenant_id, name, title, severity, lease_ttl, max_hold,"
        " abandon_threshold, escalation_boost, undo_window, release_cooldown, sla, disabled_at)"
        " SELECT tenant_id, 'gone-' || n, title, severity, lease_ttl, max_hold, abandon_threshold,"
        " escalation_boost, undo_window, release_cooldown, sla, now()"
        " FROM queue, generate_series(1, 20) AS n WHERE name = 'posts' ON CONFLICT DO NOTHING"
    )
    plan = await plan_of(crowd, "stray", "find_strays", {"limit": "200"}, mode)
    assert plan.indexes("item") <= OF_ONE_QUEUE
    assert read_whole(plan) == set()
    assert plan.most("item") == 0
    assert plan.buffers <= 20 * 3 * 4 + 20


@each_mode
async def test_some_of_a_long_queue_are_locked_without_reading_it(crowd: Any, mode: str) -> None:
    values = {"tenant_id": "1", "queue": "'posts'", "limit": "50"}
    plan = await plan_of(crowd, "stray", "lock_strays", values, mode)
    assert plan.indexes("item") <= OF_ONE_QUEUE | {"item_pkey"}
    assert read_whole(plan) == set()
    assert plan.most("item") <= 2 * 50 * 2
    assert plan.buffers <= 100 * 25


@each_mode
async def test_what_is_undecided_is_counted_without_the_history(crowd: Any, mode: str) -> None:
    values = {"tenant_id": "1", "queues": "ARRAY['posts']"}
    plan = await plan_of(crowd, "stray", "count_undecided", values, mode)
    assert plan.indexes("item") <= OF_ONE_QUEUE
    assert read_whole(plan) == set()
    assert plan.buffers <= 600

"""The plans of claims and of the figures beside them; `test_plans` says what is measured when."""

from __future__ import annotations

from typing import Any

from tests.sql.crowd import CLAIMER, FIRST_HOLDER, LEASED, LEASED_ITEM, QUEUED
from tests.sql.plans import each_mode, plan_of, read_whole, undone

Connection = Any
CLAIM = {
    "tenant_id": "1",
    "queue": "'posts'",
    "principal_id": str(CLAIMER),
    "claim_key": "gen_random_uuid()",
    "terminal": "NULL",
}
CLAIM_BUFFERS, CLAIM_FILTERED = 150, 60
"""The most pages that a claim may touch, and the most rows that it may pass over."""
FINDS = {"item_queued", "item_leased", "item_parked"}
"""Where a claim looks for what waits, what has run out and what is due."""
RUN_OUT = 30
PARKED = 60
PARK = """
UPDATE item SET state = 'parked', owner = NULL, fence_token = NULL, leased_at = NULL,
  lease_expires = NULL, parked_at = now(), wake_at = now() + id * interval '1 minute'
WHERE id BETWEEN $1 AND $2
"""


@each_mode
async def test_a_claim_walks_the_ordered_backlog_and_what_ran_out(
    crowd: Connection, mode: str
) -> None:
    plan = await plan_of(crowd, "claim", "claim_next", CLAIM, mode)
    # What the person holds is looked up inside holds_lease, whose cost counts in `plan.buffers`.
    assert plan.indexes("item") == FINDS | {"item_pkey"}
    assert read_whole(plan) == set()


@each_mode
async def test_a_claim_reads_what_somebody_is_kept_from_once_and_the_rest_for_one_item_alone(
    crowd: Connection, mode: str
) -> None:
    """He has had to do with thousands of others before, and is kept from twenty for a while."""
    plan = await plan_of(crowd, "claim", "claim_next", CLAIM, mode)
    assert plan.indexes("exclusion") == {
        "exclusion_principal",
        "exclusion_item",
        "exclusion_content",
    }
    assert plan.most("exclusion") == 20


@each_mode
async def test_a_claim_costs_the_same_however_much_waits_or_is_leased(
    crowd: Connection, mode: str
) -> None:
    plan = await plan_of(crowd, "claim", "claim_next", CLAIM, mode)
    assert plan.most("item") <= 21  # the first twenty are not for this person
    assert plan.removed() <= CLAIM_FILTERED
    assert plan.sorted() <= 2
    assert plan.buffers <= 110  # 75 here, and a walk over all leases adds 60; more at full size


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
    assert plan.indexes("item") == FINDS | {"item_pkey"}
    assert plan.buffers <= CLAIM_BUFFERS + 60 * RUN_OUT


@each_mode
async def test_a_claim_wakes_at_most_fifty_and_pays_for_each_alone(
    crowd: Connection, mode: str
) -> None:
    async with undone(crowd):
        await crowd.execute(PARK, LEASED_ITEM, LEASED_ITEM + PARKED - 1)
        plan = await plan_of(crowd, "claim", "claim_next", CLAIM, mode)
        await crowd.execute("UPDATE item SET wake_at = now() WHERE state = 'parked'")
        waking = await plan_of(crowd, "claim", "claim_next", CLAIM, mode)
    assert plan.buffers <= CLAIM_BUFFERS + 10, "what is not due costs nothing"
    for each in (plan, waking):
        assert each.indexes("item") == FINDS | {"item_pkey"}
        assert each.most("item") <= 50
    assert waking.buffers <= CLAIM_BUFFERS + 60 * 50


@each_mode
async def test_the_fair_order_takes_one_look_at_each_queue(crowd: Connection, mode: str) -> None:
    values = {"tenant_id": "1", "queues": "'{posts,top}'"}
    for parked in (False, True):
        async with undone(crowd):
            if parked:
                await crowd.execute(PARK, LEASED_ITEM, LEASED_ITEM + PARKED - 1)
            plan = await plan_of(crowd, "claim", "fair_order", values, mode)
        assert plan.indexes("item") == {"item_queued_since", "item_leased", "item_parked"}
        assert plan.most("item") <= 2
        assert read_whole(plan) == set()
        assert plan.buffers <= 30


@each_mode
async def test_those_who_wait_are_looked_up_together_and_each_alone(
    crowd: Connection, mode: str
) -> None:
    people = [CLAIMER, *range(FIRST_HOLDER, FIRST_HOLDER + 49)]
    values = {
        "tenant_ids": f"'{{{','.join('1' for _ in people)}}}'",
        "queues": f"'{{{','.join('posts' for _ in people)}}}'",
        "principal_ids": f"'{{{','.join(map(str, people))}}}'",
    }
    plan = await plan_of(crowd, "claim", "find_claimable", values, mode)
    assert plan.indexes("item") <= FINDS
    assert plan.most("item") <= 50 + 20
    assert read_whole(plan) == set()
    assert plan.buffers <= 20 * len(people) + 150


@each_mode
async def test_the_figures_of_a_queue_are_read_from_indexes(crowd: Connection, mode: str) -> None:
    who = {key: CLAIM[key] for key in ("tenant_id", "queue", "principal_id")}
    plan = await plan_of(crowd, "claim", "queue_figures", who, mode)
    assert read_whole(plan) == set()
    assert plan.most("item") <= QUEUED + LEASED
    assert plan.indexes("item") >= {"item_queued_since", "item_leased_since", "item_parked"}
    assert plan.sorted() <= 1, "the oldest of each kind is looked up"
    # A row or two of the count is a page here; what he is kept from is capped.
    assert plan.buffers <= QUEUED + LEASED + 6 * 1_000

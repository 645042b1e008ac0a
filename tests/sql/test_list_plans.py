"""The plans of what leads page through and do in bulk: a page costs a page, on any backlog."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.crowd import CLAIMER, FIRST_HOLDER, FIRST_ITEM, LEASED, LEASED_ITEM, QUEUED, RESOLVED
from tests.sql.plans import each_mode, plan_of, read_whole, undone

Connection = Any
PAGE = 51
WHERE = {"tenant_id": "1", "queue": "'posts'", "limit": str(PAGE)}
PRESENT = {"principal_id": "1", "present_within": "'15 minutes'"}
PEOPLE = {"queue", "tenant", "principal", "role_grant", "api_key", "applied"}
"""Tables that are as large as the staff, and one that is nearly empty here."""
UNDONE = 500
"""Dead versions that other tests of this module, undone all of them, leave in the indexes."""
BULK = f"ARRAY[{', '.join(map(str, range(LEASED_ITEM, LEASED_ITEM + 50)))}]"

_SEEN = """
INSERT INTO api_key (id, principal_id, env, secret_sha256, last_used_at)
SELECT lpad(p::text, 12, 'k'), p, 'test', sha256('x'), clock() FROM unnest($1::bigint[]) AS p
"""
_GRANTED = """
INSERT INTO role_grant (principal_id, role) SELECT unnest($1::bigint[]), 'reviewer'
ON CONFLICT DO NOTHING
"""


@pytest.mark.parametrize("rank", ["NULL", "1500"])
@each_mode
async def test_a_page_of_what_waits_walks_the_index_of_the_claim(
    crowd: Connection, rank: str, mode: str
) -> None:
    asked = {**WHERE, "rank": rank, "item_id": "0"}
    plan = await plan_of(crowd, "item", "list_waiting", asked, mode)
    assert "item_queued" in plan.indexes("item")
    assert read_whole(plan) - PEOPLE == set()
    assert plan.most("item") <= PAGE + 10
    assert plan.buffers <= 12 * PAGE


@pytest.mark.parametrize(
    ("name", "index"), [("list_held", "item_leased"), ("list_parked", "item_parked")]
)
@each_mode
async def test_a_page_of_what_is_held_or_parked_walks_its_own_index(
    crowd: Connection, name: str, index: str, mode: str
) -> None:
    async with undone(crowd):
        await crowd.execute(
            "UPDATE item SET lease_expires = lease_expires + id * interval '1 ms'"
            " WHERE state = 'leased'"
        )
        await crowd.execute(
            "UPDATE item SET state = 'parked', owner = NULL, fence_token = NULL, lease_expires ="
            " NULL, parked_at = now(), wake_at = now() + id * interval '1 s'"
            " WHERE state = 'leased' AND id % 2 = 0"
        )
        asked = {**WHERE, "at": "NULL", "item_id": "0"}
        plan = await plan_of(crowd, "item", name, asked, mode)
    assert index in plan.indexes("item")
    assert read_whole(plan) - PEOPLE == set()
    # As many as there are leases: people do not hold more.
    assert plan.most("item") <= (2 * LEASED + PAGE if name == "list_held" else PAGE + 10)
    assert plan.buffers <= 20 * PAGE  # among them what the update left behind


@each_mode
async def test_what_is_stuck_is_found_from_what_is_stuck(crowd: Connection, mode: str) -> None:
    async with undone(crowd):
        await crowd.execute(
            "UPDATE item SET stuck_at = now() WHERE state = 'leased' AND id % 9 = 0"
        )
        await crowd.execute(
            "UPDATE item SET abandoned = true WHERE state = 'queued' AND id % 99 = 0"
        )
        plan = await plan_of(crowd, "item", "list_stuck", {**WHERE, "item_id": "0"}, mode)
    assert read_whole(plan) - PEOPLE == set()
    assert plan.most("item") <= 300
    assert plan.buffers <= 1_000


@pytest.mark.parametrize("staff", [[], [CLAIMER], [CLAIMER, FIRST_HOLDER]], ids=len)
@each_mode
async def test_what_nobody_may_take_is_found_from_who_is_kept_away(
    crowd: Connection, staff: list[int], mode: str
) -> None:
    async with undone(crowd):
        await crowd.execute(_GRANTED, staff)
        await crowd.execute(_SEEN, staff)
        claiming = {"roles": "ARRAY['reviewer', 'lead']"}
        asked = {**WHERE, **PRESENT, **claiming, "rank": "NULL", "item_id": "0"}
        plan = await plan_of(crowd, "item", "list_unclaimable", asked, mode)
        claiming["queues"] = "ARRAY['posts', 'posts']"
        asked = {"tenant_id": "1", **PRESENT, **claiming}
        figures = await plan_of(crowd, "health", "staffing", asked, mode)
    assert read_whole(plan) - PEOPLE == set()
    assert read_whole(figures) - PEOPLE == set()
    # What the claimer is kept from for good is a quarter of the history; the backlog is not walked
    # unless nobody is there, when it is counted up to its cap.
    kept = RESOLVED // 4 + 100
    assert plan.most("item") <= (kept if staff else PAGE + 10)
    assert figures.most("item") <= (kept if staff else QUEUED + UNDONE)


@pytest.mark.parametrize("item", [LEASED_ITEM, FIRST_ITEM + 1], ids=["leased", "resolved"])
@each_mode
async def test_the_history_of_an_item_is_read_by_the_item(
    crowd: Connection, item: int, mode: str
) -> None:
    asked = {"item_id": str(item), "after": "0", "limit": str(PAGE)}
    plan = await plan_of(crowd, "item", "list_leases", asked, mode)
    assert plan.indexes("lease_log") == {"lease_log_item"}
    assert read_whole(plan) - PEOPLE == set()
    assert plan.buffers <= 60


@pytest.mark.parametrize(
    ("noun", "name", "asked"),
    [
        ("item", "lock_items", {}),
        ("move", "move_items", {"to": "'escalation'", "by_principal": "1", "now": "now()"}),
        ("withdraw", "withdraw_items", {"by_principal": "1", "now": "now()"}),
    ],
)
@each_mode
async def test_a_chunk_of_a_bulk_goes_through_the_primary_key_alone(
    crowd: Connection, noun: str, name: str, asked: dict[str, str], mode: str
) -> None:
    asked = {"tenant_id": "1", "item_ids": BULK, **asked}
    plan = await plan_of(crowd, noun, name, asked, mode)
    assert plan.indexes("item") == {"item_pkey"}
    assert read_whole(plan) == set()
    assert plan.most("item") <= 50 + UNDONE


@each_mode
async def test_a_content_and_its_rounds_are_read_by_its_id(crowd: Connection, mode: str) -> None:
    item = FIRST_ITEM + 5
    content = await crowd.fetchval("SELECT content_id FROM content WHERE id = $1", item)
    asked = {"tenant_id": "1", "content_id": f"'{content}'"}
    plan = await plan_of(crowd, "item", "read_round", asked, mode)
    assert read_whole(plan) - PEOPLE == set()
    assert plan.buffers <= 40
    settled = await plan_of(crowd, "item", "read_settled", {"content_ids": f"'{{{item}}}'"}, mode)
    assert read_whole(settled) - PEOPLE == set()
    assert settled.buffers <= 40
    line = await plan_of(crowd, "withdraw", "find_in_line", {"content_ids": BULK}, mode)
    assert read_whole(line) - PEOPLE == set()
    assert line.most("content") <= 50

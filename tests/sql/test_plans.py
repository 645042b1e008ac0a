"""The plans that the figures of the queue rest on, on a crowded queue and whatever was measured.

`late`: statistics are as fresh as autovacuum keeps them. `early`: they were taken while nobody had
anything to do, as after a night. `never`: there are none. Each with the plan that the server makes
for all values alike and with the one that it makes for these.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.crowd import CLAIMER, FIRST_HOLDER, LEASED_ITEM
from tests.sql.plans import each_mode, plan_of, read_whole, undone
from tests.sql.uses import named_statements

Connection = Any
RUN_OUT = 30
with_statistics = pytest.mark.parametrize("crowd", ["late", "early"], indirect=True)


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
        (
            "verdict",
            "lock_for_verdict",
            {
                "tenant_id": "1",
                "principal_id": str(FIRST_HOLDER),
                "verdict_token": "gen_random_uuid()",
            },
        ),
        ("park", "lock_for_park", {"tenant_id": "1"}),
        (
            "park",
            "park_item",
            {
                "principal_id": str(FIRST_HOLDER),
                "reason": "'await_date'",
                "text": "NULL",
                "now": "now()",
                "wake_at": "now() + interval '1 day'",
            },
        ),
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
    assert read_whole(plan) <= {"verdict_reply"}  # nobody has said anything here
    assert plan.most("item") == 1
    assert plan.buffers <= 150


@each_mode
async def test_the_lock_of_a_verdict_finds_its_answer_by_the_token_alone(
    crowd: Connection, mode: str
) -> None:
    token = await crowd.fetchval("SELECT fence_token FROM item WHERE id = $1", LEASED_ITEM)
    values = {
        "tenant_id": "1",
        "item_id": str(LEASED_ITEM),
        "fence_token": f"'{token}'",
        "principal_id": str(FIRST_HOLDER),
        "verdict_token": "gen_random_uuid()",
    }
    async with undone(crowd):
        await crowd.execute(
            "INSERT INTO verdict_reply (principal_id, verdict_token, fingerprint, decision_id,"
            " answer) SELECT $1::bigint, gen_random_uuid(), sha256('x'), id, 'x' FROM decision"
            " ON CONFLICT DO NOTHING",
            FIRST_HOLDER,
        )
        await crowd.execute("ANALYZE verdict_reply")
        plan = await plan_of(crowd, "verdict", "lock_for_verdict", values, mode)
    assert plan.indexes("verdict_reply") == {"verdict_reply_pkey"}
    assert plan.most("verdict_reply") == 0
    assert read_whole(plan) == set()


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


ONE_ITEM = {"tenant_id": "1", "item_id": str(LEASED_ITEM), "principal_id": str(FIRST_HOLDER)}


@pytest.mark.parametrize(
    ("name", "more", "indexes"),
    [
        ("lock_for_take_back", {}, {"item_pkey"}),
        (
            "take_back_lease",
            {"lease_epoch": "1", "by_principal": str(CLAIMER), "reason": "'mistake'"},
            {"item_pkey"},
        ),
        ("taken_back_before", {"lease_epoch": "1"}, {"item_pkey"}),
        (
            "take_over_lease",
            {"claim_key": "gen_random_uuid()", "terminal": "'t'"},
            {"item_pkey", "item_owner"},
        ),
        ("own_end", {"fence_token": "gen_random_uuid()", "happening": "'release'"}, set()),
        ("item_now", {}, {"item_pkey", "item_owner"}),
    ],
)
@each_mode
async def test_a_deed_on_one_lease_reads_its_item_and_what_its_holder_holds(
    crowd: Connection, name: str, more: dict[str, str], indexes: set[str], mode: str
) -> None:
    token = await crowd.fetchval("SELECT fence_token FROM item WHERE id = $1", LEASED_ITEM)
    values = {**ONE_ITEM, "fence_token": f"'{token}'", **more}
    wanted = {key: values[key] for key in parameters("lease", name)}
    plan = await plan_of(crowd, "lease", name, wanted, mode)
    assert plan.indexes("item") <= indexes
    assert read_whole(plan) == set()
    # Not one, since what earlier plans left behind dead counts where a bitmap is read.
    assert plan.most("item") <= 20
    assert plan.most("lease_log") <= 20
    assert plan.buffers <= 150


def parameters(noun: str, name: str) -> frozenset[str]:
    (found,) = [each for each in named_statements() if (each.noun, each.name) == (noun, name)]
    return found.parameters


PARKED = 1_000


@each_mode
async def test_the_redriver_reads_what_is_due_and_no_more(crowd: Connection, mode: str) -> None:
    async with undone(crowd):
        await crowd.execute(
            "UPDATE item SET lease_expires = now() - interval '1 minute' WHERE id <= $1"
            " AND id >= $2",
            LEASED_ITEM + RUN_OUT - 1,
            LEASED_ITEM,
        )
        await crowd.execute(
            "UPDATE item SET state = 'parked', owner = NULL, fence_token = NULL, claim_key = NULL,"
            " leased_at = NULL, lease_expires = NULL, parked_at = now(),"
            " wake_at = clock() + (id - $1::bigint - $2::bigint) * interval '1 hour'"
            " WHERE id > $1 AND id <= $1 + $3",
            LEASED_ITEM + RUN_OUT,
            RUN_OUT,
            PARKED,
        )
        for noun, name, index in (
            ("lease", "lock_run_out", "item_leased"),
            ("park", "wake_due", "item_parked"),
        ):
            plan = await plan_of(crowd, noun, name, {"limit": "200"}, mode)
            assert plan.indexes("item") - {"item_pkey"} == {index}
            assert read_whole(plan) == set()
            # Without statistics a row is met several times, as a bitmap's entry and as itself.
            assert plan.most("item") <= 5 * RUN_OUT
            assert plan.buffers <= 60 * RUN_OUT + 100
        values = {"after": "0", "limit": "200"}
        plan = await plan_of(crowd, "lease", "lock_abandoned", values, mode)
        assert plan.indexes("item") == {"item_abandoned"}
        assert plan.most("item") == 0

"""Clients who race, call twice and are cut off: what each of them saw can be explained."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.model.aftermath import final
from tests.model.crowd import Crowd
from tests.model.ground import EVERYWHERE, Ground, prepare
from tests.model.history import faults
from tests.model.register import Op
from tests.model.rush import rush
from tests.model.seniors import Seniors
from tests.support.postgres import Cluster
from tests.support.trail import assert_every_chain_is_whole

ITEMS = {"posts": 40, "cases": 20}


@pytest.fixture(scope="module")
async def ground(cluster: Cluster) -> Ground:
    staff = {f"p{number}": EVERYWHERE for number in range(6)} | {"dot": EVERYWHERE}
    return await prepare(cluster, staff=staff, counted=False)


async def history_of_a_rush(ground: Ground, seed: int, *, times: int) -> list[Op]:
    """Let eight clients of six people race for a while; check what can be checked at once."""
    async with ground.desk(size=12) as desk:
        *people, boss = ground.people
        crowd = Crowd(desk, people, random.Random(seed))
        for queue, count in ITEMS.items():
            for number in range(count):
                await desk.item(f"{queue}-{number}", queue=queue, rank=number)
        await rush(crowd, Seniors(boss, ground.producer), clients=8, times=times)
        history = await final(crowd)
        contents = await desk.value("SELECT count(DISTINCT content_id) FROM item")
        undone = await desk.value(
            "SELECT count(*) FROM decision WHERE id NOT IN (SELECT decision_id FROM applied)"
            " AND id NOT IN (SELECT decision_id FROM pending_apply)"
        )
        assert (contents, undone) == (sum(ITEMS.values()), 0)
        await assert_every_chain_is_whole(desk.admin)
    assert overlapping(crowd.spans) >= 50, "they did not race"
    return history


def overlapping(spans: list[tuple[float, float]]) -> int:
    """Count the pairs of calls that were under way at once."""
    ordered = sorted(spans)
    return sum(
        later[0] < one[1] for place, one in enumerate(ordered) for later in ordered[place + 1 :]
    )


async def test_what_racing_clients_saw_can_be_explained(ground: Ground) -> None:
    history = await history_of_a_rush(ground, 1, times=60)
    seen = Counter((op.kind, op.outcome) for op in history)
    assert faults(history) == []
    for kind in ("take_over", "park", "take_back", "move", "withdraw", "revise"):
        assert seen[kind, "ok"] > 0, (kind, seen)
    assert seen["claim", "ok"] > 10, seen
    assert seen["verdict", "ok"] > 10, seen
    assert seen["verdict", "refused"] > 5, seen
    assert sum(count for (_, outcome), count in seen.items() if outcome == "unknown") > 2, seen
    assert_that_spoiling_it_is_noticed(history)


_GRANTS = ("claim", "take_over")


def assert_that_spoiling_it_is_noticed(history: list[Op]) -> None:
    """Of this very history, the checker finds fault once anything in it is not true."""
    tries = Counter(op.verdict_token for op in history if op.kind == "verdict")
    said = next(
        op
        for op in history
        if op.kind == "verdict" and op.outcome == "ok" and tries[op.verdict_token] == 1
    )
    end = next(op for op in history if op.kind == "end" and op.item == said.item)
    lost = replace(end, decision=None, verdict_token="", body="", person=0)
    twice = replace(said, verdict_token="another", decision=10**9, invoked=said.returned)
    for spoilt in (
        [lost if op is end else op for op in history],
        [*history, replace(twice, returned=twice.invoked + 1)],
        [op for op in history if op.kind not in _GRANTS or op.token != said.token],
        [replace(said, outcome="refused", decision=None) if op is said else op for op in history],
    ):
        assert f"item {said.item}" in faults(spoilt)


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(2, 12))
async def test_what_many_more_racing_clients_saw_can_be_explained(
    ground: Ground, seed: int
) -> None:
    assert faults(await history_of_a_rush(ground, seed, times=60)) == []

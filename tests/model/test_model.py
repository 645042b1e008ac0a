"""Whatever people do and in whatever order, the queue does what a small model of it does.

A failure prints the steps that led to it. The default tier repeats the same programs; the deep one
makes new ones and shortens what it finds, so it is the one to run after a red default.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from shared.vocabulary import BulkResult, ItemNow
from tests.model.day import long_day
from tests.model.desk_machine import machine_on
from tests.model.ground import Ground, prepare
from tests.support.postgres import Cluster

EVERY_DAY = settings(
    max_examples=20,
    stateful_step_count=24,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
DEEP = settings(
    max_examples=200,
    stateful_step_count=30,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)

STALE = {f"stale: {now}" for now in (*ItemNow, "not his", "too late")}
BULK = {f"bulk: {result}" for result in BulkResult if result is not BulkResult.REFUSED}
ANSWERS = STALE | BULK | {
    "lease", "nothing", "lease_held", "forbidden", "renewed", "released", "parked", "invalid_field",
    "decided", "replayed", "verdict_conflict", "wrong_owner", "reason_not_admitted",
    "evidence_changed", "new: True", "new: False", "reopened by evidence", "withdrawn",
    "no_open_item", "taken_back", "reopened", "not_reopenable", "queue_draining", "not_found",
    "given_back", "woken", "escalated", "stuck", "applied",
}  # fmt: skip
"""Every kind of answer that there is; what is refused in bulk are appeals, which are not played."""


@pytest.fixture(scope="module")
async def ground(cluster: Cluster) -> Ground:
    return await prepare(cluster)


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.full) for seed in (3, 4, 5, 6))]
)
def test_a_long_day_goes_as_the_model_says(ground: Ground, seed: int) -> None:
    _a_day(ground, seed)


def test_long_days_meet_every_answer(ground: Ground) -> None:
    met = set().union(*(_a_day(ground, seed) for seed in (7, 8, 9, 10)))
    assert met >= ANSWERS, sorted(ANSWERS - met)


def _a_day(ground: Ground, seed: int) -> set[str]:
    machine = machine_on(ground)()
    try:
        long_day(machine, seed, deeds=400)
    finally:
        machine.play.close()
    return machine.play.met


def test_the_queue_does_what_its_model_does(ground: Ground) -> None:
    run_state_machine_as_test(machine_on(ground), settings=EVERY_DAY)


@pytest.mark.fault
@pytest.mark.timeout(1800)
def test_the_queue_does_what_its_model_does_in_many_more_programs(ground: Ground) -> None:
    run_state_machine_as_test(machine_on(ground), settings=DEEP)

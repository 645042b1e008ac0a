"""Whatever people do and in whatever order, the queue does what a small model of it does.

A failure prints the steps that led to it. The default tier repeats the same programs; the deep one
makes new ones and shortens what it finds, so it is the one to run after a red default.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

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


@pytest.fixture(scope="module")
async def ground(cluster: Cluster) -> Ground:
    return await prepare(cluster)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_long_day_goes_as_the_model_says(ground: Ground, seed: int) -> None:
    machine = machine_on(ground)()
    try:
        long_day(machine, seed, deeds=300)
    finally:
        machine.play.close()


def test_the_queue_does_what_its_model_does(ground: Ground) -> None:
    run_state_machine_as_test(machine_on(ground), settings=EVERY_DAY)


@pytest.mark.fault
@pytest.mark.timeout(1800)
def test_the_queue_does_what_its_model_does_in_many_more_programs(ground: Ground) -> None:
    run_state_machine_as_test(machine_on(ground), settings=DEEP)

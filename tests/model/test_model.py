"""Whatever people do and in whatever order, the queue does what a small model of it does.

A failure prints the steps that led to it. The default tier repeats the same programs; the deep one
makes new ones and shortens what it finds, so it is the one to run after a red default.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.ground import Ground, prepare
from tests.model.machine import machine_on
from tests.support.postgres import Cluster

EVERY_DAY = settings(
    max_examples=30,
    stateful_step_count=24,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
DEEP = settings(
    max_examples=300,
    stateful_step_count=30,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
async def ground(cluster: Cluster) -> Ground:
    return await prepare(cluster)


def test_the_queue_does_what_its_model_does(ground: Ground) -> None:
    run_state_machine_as_test(machine_on(ground), settings=EVERY_DAY)


@pytest.mark.fault
@pytest.mark.timeout(1800)
def test_the_queue_does_what_its_model_does_in_many_more_programs(ground: Ground) -> None:
    run_state_machine_as_test(machine_on(ground), settings=DEEP)

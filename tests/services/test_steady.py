"""Patience with the database: what was surely not done is repeated, nothing else is."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

import asyncpg
import pytest

from backend.db.connection import Database
from backend.db.errors import ConstraintError, ContentionError, OutcomeUnknownError
from backend.domain.refusals import Busy, NotFound, OutcomeUnknown
from backend.services.steady import ATTEMPTS, once_more, steadily
from backend.services.submit import submit
from tests.support.gateway import row, somebody, standard
from tests.support.postgres import Dsn

Admin: TypeAlias = "asyncpg.Connection[Any]"


class Work:
    """Raises what it was given, one error a try, then returns."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.tries = 0

    async def __call__(self) -> str:
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def refused_by(constraint: str) -> ConstraintError:
    error = asyncpg.UniqueViolationError("met")
    error.constraint_name = constraint
    return ConstraintError(error)


async def test_who_met_another_under_a_key_looks_once_more_and_no_oftener() -> None:
    work = Work(refused_by("a_key"))
    assert await once_more(work, ("a_key", "b_key")) == "done"
    assert work.tries == 2
    for work in (Work(refused_by("a_key"), refused_by("a_key")), Work(refused_by("c_key"))):
        with pytest.raises(ConstraintError):
            await once_more(work, ("a_key",))
        assert work.errors == []


async def test_a_deadlock_is_tried_again() -> None:
    work = Work(ContentionError("deadlock"), ContentionError("deadlock"))
    assert await steadily(work) == "done"
    assert work.tries == 3


async def test_patience_ends() -> None:
    work = Work(*(ContentionError("lock") for _ in range(10)))
    with pytest.raises(Busy) as refused:
        await steadily(work)
    assert work.tries == ATTEMPTS
    assert refused.value.extra["retry_after_ms"] > 0


async def test_what_may_have_happened_is_never_tried_again() -> None:
    work = Work(OutcomeUnknownError("gone"))
    with pytest.raises(OutcomeUnknown):
        await steadily(work)
    assert work.tries == 1


async def test_a_refusal_passes_at_once() -> None:
    work = Work(NotFound())
    with pytest.raises(NotFound):
        await steadily(work)
    assert work.tries == 1


async def test_connections_that_were_cut_are_replaced_unnoticed(
    database: Database, admin: Admin
) -> None:
    policy = await standard(database)
    producer = await somebody(database)
    await admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE usename = 'fencepost_runtime' AND datname = current_database()"
    )
    (receipt,) = await steadily(lambda: submit(database, policy, producer, [row("c-1")]))
    assert receipt.created


async def test_a_full_pool_is_busy_and_not_a_fault(dsn: Dsn) -> None:
    async with Database(
        dsn.runtime, size=1, acquire_within=0.05, durable=False, true_clock=False
    ) as small:
        policy = await standard(small)
        producer = await somebody(small)
        async with small.connection():
            with pytest.raises(Busy):
                await steadily(lambda: submit(small, policy, producer, [row("c-1")]))
        (receipt,) = await steadily(lambda: submit(small, policy, producer, [row("c-1")]))
        assert receipt.created


async def test_a_submission_that_waits_for_another_gets_its_turn(
    database: Database, admin: Admin
) -> None:
    policy = await standard(database)
    producer = await somebody(database)
    async with admin.transaction():
        await admin.execute(
            "INSERT INTO content (tenant_id, content_id, kind, submitted_by)"
            " VALUES (1, 'c-1', 'post', $1)",
            producer.principal_id,
        )
        waiting = asyncio.create_task(submit(database, policy, producer, [row("c-1")]))
        await asyncio.sleep(0.1)
        assert not waiting.done()
    (receipt,) = await waiting
    assert not receipt.created

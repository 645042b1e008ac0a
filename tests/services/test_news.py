"""What is told after a deed: only what was committed, and only where something may have changed."""

from __future__ import annotations

from typing import Any

import pytest

from backend.db.connection import Database
from backend.services import submit as submitting
from backend.services.apply import apply_due
from backend.services.news import News, depth
from backend.services.submit import submit, submit_case
from shared.vocabulary import Verdict
from tests.support.desk import Desk
from tests.support.gateway import case, row, somebody, standard


async def test_a_submission_tells_of_each_queue_in_which_something_new_waits(
    database: Database,
) -> None:
    policy, who = await standard(database), await somebody(database)
    told: list[News] = []
    rows = [row(f"p-{number}", {"violence": 0.8}) for number in range(5)]
    rows += [row("fine"), row("bad", {"violence": 1.0})]
    await submit(database, policy, who, rows, tell=told.append)
    assert told == depth(who.tenant_id, "posts")
    await submit(database, policy, who, rows, tell=told.append)
    assert len(told) == 1, "nothing of it was new"
    await submit_case(database, policy, who, "cases", case("c-1"), tell=told.append)
    assert told[1:] == depth(who.tenant_id, "cases")


async def test_what_was_not_committed_is_not_told(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, who = await standard(database), await somebody(database)
    told: list[News] = []

    async def fail(*_: Any) -> None:
        raise RuntimeError("on the way")

    monkeypatch.setattr(submitting, "insert_events", fail)
    with pytest.raises(RuntimeError):
        await submit(database, policy, who, [row("p-1", {"violence": 0.8})], tell=told.append)
    assert told == []


async def test_an_escalation_that_takes_effect_tells_of_the_queue_that_it_went_to(
    desk: Desk,
) -> None:
    await desk.item("c-1")
    await desk.item("c-2")
    who, told = await desk.person("anna"), list[News]()
    await desk.decide(who, await desk.lease(who), Verdict.ESCALATE)
    await desk.decide(who, await desk.lease(who), Verdict.APPROVE)
    await desk.admin.execute("UPDATE test_clock SET shift = interval '1 minute'")
    assert await apply_due(desk.db, tell=told.append) == 2
    assert told == depth(1, await desk.value("SELECT queue FROM item WHERE round = 2"))

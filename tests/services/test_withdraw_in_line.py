"""Withdrawing while a verdict waits to take effect: that comes first, and nobody is told wrong."""

from __future__ import annotations

from typing import Any

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import NoOpenItem
from backend.services.withdraw import withdraw_content, withdraw_items
from shared.vocabulary import BulkResult, Role, Verdict
from shared.wire.item import BulkAnswer, WithdrawItemsRequest
from tests.services.showings import revised, submitted
from tests.support.desk import Desk
from tests.support.trail import assert_every_chain_is_whole


async def drop(desk: Desk, lead: Identity, item: Any) -> BulkAnswer:
    return await withdraw_items(desk.db, lead, WithdrawItemsRequest(items=(str(item),)))


async def test_while_a_verdict_on_the_old_evidence_waits_the_new_round_is_not_withdrawn(
    desk: Desk,
) -> None:
    """Whoever is told that it is withdrawn is never told of a decision after that."""
    who, ana, lead = (
        await submitted(desk),
        await desk.person("ana"),
        await desk.person("lead", Role.LEAD),
    )
    await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    opened = await revised(desk, who)
    assert opened.reopened
    with pytest.raises(NoOpenItem) as refused:
        await withdraw_content(desk.db, who, "c-1")
    assert refused.value.detail == "a decision is about to take effect"
    (row,) = (await drop(desk, lead, opened.item_id)).rows
    assert (row.result, row.detail) == (BulkResult.REFUSED, "a decision is about to take effect")
    assert await desk.value("SELECT count(*) FROM event WHERE type LIKE '%.withdrawn'") == 0
    await desk.apply_all()
    assert await desk.value("SELECT state FROM item WHERE round = 2") == "queued"
    gone = await withdraw_content(desk.db, who, "c-1")
    assert gone.item_id == opened.item_id
    assert await desk.value("SELECT state FROM content") == "removed"
    assert await desk.value("SELECT count(*) FROM item WHERE state <> 'resolved'") == 0
    await assert_every_chain_is_whole(desk.admin)


async def test_a_second_look_beside_a_verdict_that_waits_is_withdrawn(desk: Desk) -> None:
    await submitted(desk)
    ana, lead = await desk.person("ana"), await desk.person("lead", Role.LEAD)
    await desk.decide(ana, await desk.lease(ana))
    await desk.admin.execute("""
        INSERT INTO item (tenant_id, content_id, queue, round, source, severity, base, rank,
          first_enqueued_at, enqueued_at, sla_from, evidence_revision)
        SELECT tenant_id, content_id, queue, 2, 'second_look', severity, base, rank,
          first_enqueued_at, enqueued_at, sla_from, evidence_revision FROM item""")
    look = await desk.value("SELECT id FROM item WHERE source = 'second_look'")
    assert (await drop(desk, lead, look)).done == 1

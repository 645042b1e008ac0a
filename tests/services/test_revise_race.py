"""New evidence against a verdict, in real time: nobody decides on what he did not see."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest

from backend.db.connection import Database
from backend.db.verdict import lock_for_verdict
from backend.domain.refusals import EvidenceChanged, Refusal
from backend.services.claim import claim
from backend.services.steady import steadily
from backend.services.verdict import verdict
from shared.vocabulary import Verdict
from tests.services.deeds import Told
from tests.services.showings import held, revised, submitted
from tests.support.desk import QUEUE, Desk, new_key
from tests.support.trail import assert_every_chain_is_whole

ROUNDS = 12
WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


async def until_waiting(desk: Desk, many: int = 1) -> None:
    """Wait until so many wait for a lock."""
    async with asyncio.timeout(10):
        while await desk.value(WAITING) < many:  # noqa: ASYNC110 - the database has no event to await
            await asyncio.sleep(0.01)


async def test_a_verdict_that_waits_for_a_revision_is_told_of_it_and_not_that_it_is_stale(
    desk: Desk,
) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    lease = await desk.lease(ana)
    # Somebody holds the content: the revision has the item and waits, the verdict queues behind it.
    async with desk.db.transaction() as conn:
        await conn.fetch("SELECT FROM content FOR UPDATE")
        revising = asyncio.create_task(revised(desk, who))
        await until_waiting(desk)
        deciding = asyncio.create_task(desk.decide(ana, lease))
        await until_waiting(desk, 2)
    assert (await revising).changed
    with pytest.raises(EvidenceChanged) as refused:
        await deciding
    assert refused.value.extra["change"].known
    assert await desk.value("SELECT count(*) FROM decision WHERE principal_id IS NOT NULL") == 0
    await desk.decide(ana, await held(desk, ana))


async def test_a_revision_that_waits_for_a_verdict_opens_a_round(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    lease = await desk.lease(ana)
    async with desk.db.transaction() as conn:
        await conn.fetch("SELECT FROM content FOR UPDATE")
        deciding = asyncio.create_task(desk.decide(ana, lease))
        await until_waiting(desk)
        revising = asyncio.create_task(steadily(lambda: revised(desk, who)))
        await until_waiting(desk, 2)
    assert not (await deciding).replayed
    answer = await revising
    assert (answer.reopened, answer.revision) == (True, 2)
    assert await desk.value("SELECT count(*) FROM item WHERE state <> 'resolved'") == 1


async def test_whoever_is_first_the_decision_was_on_what_was_shown(desk: Desk) -> None:
    who, ana = await submitted(desk, "c-0"), await desk.person("ana")
    for number in range(ROUNDS):
        content = f"r-{number}"
        await submitted(desk, content, labels={"child_safety": 0.5})
        lease = await desk.lease(ana)
        assert lease.content_id == content
        said, sent = await asyncio.gather(
            desk.decide(ana, lease, Verdict.REJECT),
            steadily(lambda content=content: revised(desk, who, content)),  # type: ignore[misc]
            return_exceptions=True,
        )
        assert not isinstance(sent, BaseException)
        if isinstance(said, BaseException):
            assert isinstance(said, EvidenceChanged)
            assert not sent.reopened
            await desk.decide(ana, await held(desk, ana), Verdict.REJECT)
        else:
            assert sent.reopened
            await desk.admin.execute(
                "UPDATE item SET rank = -1e9, base = -1e9 WHERE source = 'evidence'"
            )
    wrong = await desk.value(
        "SELECT count(*) FROM decision d JOIN item i ON i.id = d.item_id"
        " JOIN evidence e ON e.content_id = d.content_id AND e.revision = i.evidence_revision"
        " WHERE d.evidence_hash <> e.hash"
    )
    assert wrong == 0
    assert await desk.value("SELECT count(*) FROM decision WHERE verdict = 'reject'") == ROUNDS
    await assert_every_chain_is_whole(desk.admin)


async def test_many_revisions_at_once_leave_one_line_of_them(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    lease = await desk.lease(ana)
    sent = [steadily(lambda n=n: revised(desk, who, text=f"text {n}")) for n in range(8)]  # type: ignore[misc]
    answers = await asyncio.gather(*sent)
    assert sorted(answer.revision for answer in answers) == list(range(2, 10))
    now = await held(desk, ana)
    assert now.lease_token == lease.lease_token
    assert await desk.value("SELECT evidence_revision FROM item") == 9
    assert await desk.value("SELECT count(*) FROM evidence") == 9
    await assert_every_chain_is_whole(desk.admin)


async def test_a_verdict_reads_the_clock_once_it_has_its_lock(desk: Desk) -> None:
    await submitted(desk)
    ana = await desk.person("ana")
    lease = await desk.lease(ana)
    await desk.admin.execute("UPDATE item SET lease_expires = clock() + interval '300 ms'")
    async with desk.db.transaction() as conn:
        await conn.fetch("SELECT FROM item FOR UPDATE")
        deciding = asyncio.create_task(desk.decide(ana, lease))
        await until_waiting(desk)
        await asyncio.sleep(0.8)
    assert (await deciding).answer.decision.late_by_ms >= 300


async def test_a_head_that_changed_while_a_verdict_waited_is_seen(
    desk: Desk, database: Database
) -> None:
    await submitted(desk)
    ana = await desk.person("ana")
    lease = await desk.lease(ana)
    async with database.transaction() as conn:
        await conn.fetch("SELECT FROM content FOR UPDATE")
        deciding = asyncio.create_task(desk.decide(ana, lease))
        await until_waiting(desk)
        head = await conn.fetchval(
            "INSERT INTO decision (tenant_id, content_id, kind, actor, outcome, band, explanation,"
            " supersedes, apply_after, policy_version) SELECT 1, id, 'automatic', 'model', 'hold',"
            " 'REVIEW', '{}', head_decision, clock(), $1 FROM content RETURNING id",
            desk.policy.version,
        )
        await conn.execute("UPDATE content SET head_decision = $1", head)
    decided = (await deciding).answer.decision.decision_id
    assert await desk.value("SELECT supersedes FROM decision WHERE id = $1", int(decided)) == head


async def test_what_was_committed_while_it_waited_is_read_with_a_second_look(
    desk: Desk, database: Database
) -> None:
    await submitted(desk)
    ana = await desk.person("ana")
    lease = await desk.lease(ana)
    row: Any = None

    async def locked() -> None:
        nonlocal row
        async with database.transaction() as other:
            token = await other.fetchval("SELECT fence_token FROM item")
            row = await lock_for_verdict(
                other,
                tenant_id=1,
                item_id=int(lease.item_id),
                fence_token=token,
                principal_id=ana.principal_id,
                verdict_token=uuid.uuid4(),
            )

    async with desk.db.transaction() as conn:
        await conn.fetch("SELECT FROM item FOR UPDATE")
        waiting = asyncio.create_task(locked())
        await until_waiting(desk)
        await conn.execute(
            "INSERT INTO evidence (content_id, revision, hash, bytes, policy_version)"
            " SELECT content_id, 2, sha256('x'), 'x', policy_version FROM evidence"
        )
        await conn.execute("UPDATE item SET evidence_revision = 2")
    await waiting
    assert row.whole
    assert row.evidence_revision == 2
    assert row.evidence_hash == await desk.value("SELECT encode(sha256('x'), 'hex')")


async def test_a_retry_of_a_verdict_that_changed_evidence_refused_is_judged_anew(
    desk: Desk,
) -> None:
    who, ana, told = await submitted(desk), await desk.person("ana"), Told()
    lease = await desk.lease(ana)
    await revised(desk, who)
    request = desk.saying(lease)
    for _ in range(2):
        with pytest.raises(EvidenceChanged):
            await verdict(desk.db, desk.policy, ana, lease.item_id, request, tell=told)
    assert told.news == []
    with pytest.raises(Refusal):
        await claim(desk.db, desk.policy, ana, QUEUE, new_key())  # the lease was kept

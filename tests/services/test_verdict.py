"""The verdict: replay before fence, fence before evidence, and nothing twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from backend.domain.refusals import (
    EvidenceChanged,
    Forbidden,
    ReasonNotAdmitted,
    Refusal,
    StaleLease,
    VerdictConflict,
    WrongOwner,
)
from backend.services.claim import claim
from backend.services.redrive import redrive
from backend.services.verdict import verdict
from shared.vocabulary import Verdict
from tests.support.desk import QUEUE, Desk, new_key

LAPSED = timedelta(minutes=4)


async def decisions(desk: Desk) -> int:
    count: int = await desk.value("SELECT count(*) FROM decision")
    return count


async def test_a_verdict_resolves_the_item_and_writes_one_decision(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    reply = await desk.decide(ana, lease, Verdict.REJECT, note="seen before", seen=80)
    row = await desk.admin.fetchrow(
        "SELECT d.*, i.state, i.resolution, i.fence_token, i.owner"
        " FROM decision d JOIN item i ON i.id = d.item_id"
    )
    assert row is not None
    assert str(row["id"]) == reply.answer.decision.decision_id
    assert (row["verdict"], row["outcome"], row["actor"]) == ("reject", "remove", "reviewer")
    assert (row["principal_id"], row["seen"]) == (ana.principal_id, 80)
    assert row["evidence_hash"].hex() == lease.evidence_hash
    assert (row["state"], row["resolution"]) == ("resolved", "decided")
    assert row["fence_token"] is None
    assert await desk.value("SELECT text FROM note") == "seen before"
    assert await desk.value("SELECT count(*) FROM pending_apply") == 1


async def test_the_same_verdict_again_gets_the_same_answer(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    request = desk.saying(lease)
    first = await verdict(desk.db, desk.policy, ana, lease.item_id, request)
    again = await verdict(desk.db, desk.policy, ana, lease.item_id, request)
    assert not first.replayed
    assert again.replayed
    assert again.answer.decision == first.answer.decision
    assert await decisions(desk) == 1


async def test_a_replay_comes_before_the_fence_also_after_others_decided(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    request = desk.saying(lease, Verdict.ESCALATE)
    first = await verdict(desk.db, desk.policy, ana, lease.item_id, request)
    await desk.apply_all()
    ben = await desk.person("ben")
    second = await desk.decide(ben, await desk.lease(ben, "escalation"))
    again = await verdict(desk.db, desk.policy, ana, lease.item_id, request)
    assert again.replayed
    assert again.answer.decision == first.answer.decision
    assert again.superseded_by == second.answer.decision.decision_id


@pytest.mark.parametrize(
    "changed",
    [
        {"verdict": Verdict.REJECT, "reason": "hate"},
        {"reason": "other_reason"},
        {"note": "another note"},
        {"evidence_hash": "0" * 64},
        {"lease_token": "00000000-0000-4000-8000-000000000000"},
    ],
)
async def test_the_same_token_for_another_verdict_is_a_conflict(
    desk: Desk, changed: dict[str, Any]
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    token = new_key()
    await desk.decide(ana, lease, verdict_token=token)
    with pytest.raises(VerdictConflict):
        await desk.decide(ana, lease, **{"verdict_token": token, **changed})
    assert await decisions(desk) == 1


async def test_the_same_token_on_another_item_is_a_conflict(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("a")
    token = new_key()
    await desk.decide(ana, await desk.lease(ana), verdict_token=token)
    await desk.item("b")
    with pytest.raises(VerdictConflict):
        await desk.decide(ana, await desk.lease(ana), verdict_token=token)
    assert await decisions(desk) == 1


async def test_the_same_verdict_sent_many_times_at_once_is_one(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    request = desk.saying(lease)
    replies = await asyncio.gather(
        *(verdict(desk.db, desk.policy, ana, lease.item_id, request) for _ in range(10))
    )
    assert len({reply.answer.decision.decision_id for reply in replies}) == 1
    assert sum(not reply.replayed for reply in replies) == 1
    assert await decisions(desk) == 1


async def test_two_verdicts_on_one_lease_at_once_leave_one(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    said = await asyncio.gather(
        *(desk.decide(ana, lease, each) for each in (Verdict.APPROVE, Verdict.REJECT) * 5),
        return_exceptions=True,
    )
    assert sum(not isinstance(each, BaseException) for each in said) == 1
    assert all(isinstance(e, StaleLease) for e in said if isinstance(e, BaseException))
    assert await decisions(desk) == 1


async def test_a_late_verdict_counts_while_nobody_else_took_the_item(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    reply = await desk.decide(ana, lease)
    assert 55_000 <= reply.answer.decision.late_by_ms <= 75_000
    assert await desk.value("SELECT late_by >= '55 seconds' FROM decision")


async def test_a_late_verdict_counts_also_after_the_redriver_came_by(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    assert (await redrive(desk.db)).given_back == 1
    reply = await desk.decide(ana, lease)
    assert 55_000 <= reply.answer.decision.late_by_ms <= 75_000


async def test_a_verdict_that_is_hours_late_is_refused(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(timedelta(hours=9))
    with pytest.raises(StaleLease):
        await desk.decide(ana, lease, evidence_hash="0" * 64)
    with pytest.raises(StaleLease):
        await desk.decide(ana, lease)
    assert await decisions(desk) == 0


async def test_a_lease_that_went_to_another_decides_nothing(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    stale = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    fresh = await desk.lease(ben)
    with pytest.raises(StaleLease):
        await desk.decide(ana, stale)
    await desk.decide(ben, fresh, Verdict.REJECT)
    assert await desk.value("SELECT principal_id FROM decision") == ben.principal_id


async def test_somebody_elses_token_is_refused_and_the_attempt_recorded(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    with pytest.raises(WrongOwner) as refused:
        await desk.decide(ben, lease)
    assert refused.value.extra == {}
    event = await desk.admin.fetchrow(
        "SELECT type, convert_from(canonical, 'UTF8')::jsonb ->> 'principal' AS by FROM event"
    )
    assert event is not None
    assert (event["type"], event["by"]) == ("verdict.refused", str(ben.principal_id))
    await desk.decide(ana, lease)


async def test_another_evidence_hash_is_refused_and_the_lease_kept(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    with pytest.raises(EvidenceChanged) as refused:
        await desk.decide(ana, lease, evidence_hash="0" * 64)
    assert refused.value.extra["evidence_hash"] == lease.evidence_hash
    await desk.decide(ana, lease)


async def test_a_reason_that_the_verdict_does_not_admit_is_refused(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    rejecting = desk.reason(Verdict.REJECT)
    with pytest.raises(ReasonNotAdmitted):
        await desk.decide(ana, lease, Verdict.APPROVE, reason=rejecting)
    with pytest.raises(ReasonNotAdmitted):
        await desk.decide(ana, lease, Verdict.UPHOLD, reason=rejecting)
    assert await decisions(desk) == 0
    await desk.decide(ana, lease)


async def test_the_right_to_the_queue_is_checked_again_at_the_verdict(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    stripped = type(ana)(
        principal_id=ana.principal_id, tenant_id=1, name="ana", key_id=ana.key_id, grants=()
    )
    with pytest.raises(Forbidden):
        await desk.decide(stripped, lease)
    assert await decisions(desk) == 0


async def test_verdicts_and_claims_race_without_a_double_decision(desk: Desk) -> None:
    people = [await desk.person(f"p{number}") for number in range(8)]
    for number in range(40):
        await desk.item(f"c-{number}", rank=number)

    async def work(number: int) -> int:
        done = 0
        while True:
            claimed = await claim(desk.db, desk.policy, people[number], QUEUE, new_key())
            if claimed.lease is None:
                return done
            try:
                await desk.decide(people[number], claimed.lease)
            except Refusal:
                continue
            done += 1

    counts = await asyncio.gather(*(work(number) for number in range(8)))
    assert sum(counts) == 40
    assert await desk.value("SELECT count(DISTINCT item_id) FROM decision") == 40

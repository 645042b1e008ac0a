"""A verdict on old evidence: refused, the lease kept, and told what changed; nobody else is."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import msgspec
import pytest

from backend.domain import difference
from backend.domain.difference import LONGEST_ANSWER
from backend.domain.refusals import EvidenceChanged, StaleLease, WrongOwner
from backend.services.verdict_change import COMPARISONS
from shared.vocabulary import Band, Verdict
from shared.wire.evidence import EvidenceChange, TextChange
from tests.services.deeds import give_up
from tests.services.showings import held, picture, revised, submitted, submitted_case
from tests.support.desk import Desk

MEBIBYTE = 2**20


async def refused(desk: Desk, who: Any, lease: Any, **said: Any) -> EvidenceChange:
    """Return what a verdict is told that was given on old evidence."""
    with pytest.raises(EvidenceChanged) as raised:
        await desk.decide(who, lease, **said)
    change = raised.value.extra["change"]
    assert isinstance(change, EvidenceChange)
    assert raised.value.extra["evidence_hash"] == change.after_hash
    assert raised.value.extra["evidence_revision"] == change.after_revision
    assert raised.value.field == "evidence_hash"
    return change


async def test_a_verdict_on_old_evidence_is_told_what_changed_and_keeps_its_lease(
    desk: Desk,
) -> None:
    who = await submitted(desk, text="he takes the bus", fields={"a": 1, "b": 2})
    first, second = await picture(desk, who), await picture(desk, who, b"other")
    await revised(desk, who, text="he takes the bus", fields={"a": 1, "b": 2}, attachments=[first])
    ana = await desk.person("ana")
    lease = await desk.lease(ana)
    await revised(
        desk,
        who,
        labels={"violence": 0.99, "hate": 0.3},
        text="he took the bus",
        fields={"a": 1, "b": 3},
        attachments=[second],
    )
    change = await refused(desk, ana, lease)
    assert change.known
    assert (change.before_revision, change.after_revision) == (2, 3)
    assert change.before_hash == lease.evidence_hash
    bands = {c.category: (c.before, c.after, c.band_after, c.crossed) for c in change.labels}
    assert bands == {
        "violence": ("0.5", "0.99", Band.BLOCK, True),
        "hate": ("0.01", "0.3", Band.REVIEW, True),
    }
    (place,) = change.text
    assert change.text_before is not None
    assert change.text_before[place.before_start : place.before_end] == "takes"
    assert change.fields == ("b",)
    assert (change.attachments_added, change.attachments_removed) == ((second,), (first,))
    assert await desk.value("SELECT count(*) FROM decision WHERE principal_id IS NOT NULL") == 0
    assert await desk.value("SELECT count(*) FROM verdict_reply") == 0
    assert await desk.value("SELECT count(*) FROM note") == 0
    now = await held(desk, ana)
    assert (now.lease_token, now.evidence_hash) == (lease.lease_token, change.after_hash)
    await desk.decide(ana, now)


async def test_what_changed_twice_is_told_from_what_was_decided_on(desk: Desk) -> None:
    who, ana = await submitted(desk, text="one"), await desk.person("ana")
    lease = await desk.lease(ana)
    await revised(desk, who, text="two")
    await revised(desk, who, text="three")
    change = await refused(desk, ana, lease)
    assert (change.before_revision, change.after_revision, change.text_before) == (1, 3, "one")


async def test_of_a_hash_that_was_never_shown_nothing_is_told(desk: Desk) -> None:
    await submitted(desk, "c-2", text="the text of another")
    other = await desk.value("SELECT encode(hash, 'hex') FROM evidence")
    await submitted(desk, labels={"child_safety": 0.5})
    ana = await desk.person("ana")
    lease = await desk.lease(ana)
    assert lease.content_id == "c-1"
    for said in ("0" * 64, other):
        change = await refused(desk, ana, lease, evidence_hash=said)
        assert not change.known
        assert change.text_before is None
        assert change.before_hash == said


async def test_what_was_erased_meanwhile_is_not_told(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    lease = await desk.lease(ana)
    await revised(desk, who)
    erase = "UPDATE evidence SET bytes = NULL, erased_at = clock() WHERE revision = $1"
    await desk.admin.execute(erase, 1)
    assert not (await refused(desk, ana, lease)).known
    await desk.admin.execute(erase, 2)
    assert not (await refused(desk, ana, lease)).known


async def test_only_the_holder_is_told_what_changed(desk: Desk) -> None:
    who, ana, ben = await submitted(desk), await desk.person("ana"), await desk.person("ben")
    lease = await desk.lease(ana)
    await revised(desk, who)
    with pytest.raises(WrongOwner) as wrong:
        await desk.decide(ben, lease)
    assert wrong.value.extra == {}
    await give_up(desk, ana, lease)
    with pytest.raises(StaleLease) as stale:
        await desk.decide(ana, lease)
    assert "change" not in stale.value.extra


async def test_the_answer_about_a_case_and_huge_texts_is_bounded(desk: Desk) -> None:
    who, ana = await submitted_case(desk, text="\x01" * MEBIBYTE), await desk.person("ana")
    lease = await desk.lease(ana, "cases")
    await revised(desk, who, "k-1", labels={}, text="a " * (MEBIBYTE // 2))
    change = await refused(desk, ana, lease)
    assert (change.known, change.labels, change.text_before) == (True, (), None)
    assert change.text
    lease = await held(desk, ana)
    await revised(desk, who, "k-1", labels={}, text="b " * (MEBIBYTE // 2))
    change = await refused(desk, ana, lease)
    assert change.text_before is not None
    assert len(msgspec.json.encode(change)) <= LONGEST_ANSWER


async def test_the_evidence_is_looked_at_before_the_reason(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    lease = await desk.lease(ana)
    await revised(desk, who)
    await refused(desk, ana, lease, said=Verdict.APPROVE, reason="no_such_reason")


async def test_only_two_are_compared_at_once_and_nobody_waits_for_them(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, ana = await submitted(desk, text="one two"), await desk.person("ana")
    lease = await desk.lease(ana)
    await revised(desk, who, text="one three")
    word = TextChange(before_start=4, before_end=7, after_start=4, after_end=9)
    whole = TextChange(before_start=0, before_end=7, after_start=0, after_end=9)
    at_once, release = threading.Semaphore(0), threading.Event()
    compare = difference.text_changes

    def slowly(before: str, after: str) -> tuple[TextChange, ...]:
        at_once.release()
        assert release.wait(30)
        return compare(before, after)

    monkeypatch.setattr(difference, "text_changes", slowly)
    two = [asyncio.create_task(refused(desk, ana, lease)) for _ in range(COMPARISONS.most)]
    try:
        for _ in two:
            assert await asyncio.to_thread(at_once.acquire, timeout=30)
        third = await refused(desk, ana, lease)
        assert (third.text, third.text_before) == ((whole,), "one two")
        # Nothing is locked and nothing is kept open by those who compare.
        busy = (
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND state LIKE 'idle in%'"
        )
        assert await desk.value(busy) == 0
        assert await desk.value("SELECT state FROM item FOR UPDATE NOWAIT") == "leased"
    finally:
        release.set()
        told = await asyncio.gather(*two)
    assert [change.text for change in told] == [(word,), (word,)]
    assert (await refused(desk, ana, lease)).text == (word,)

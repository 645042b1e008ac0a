"""Queues that are renamed, merged, drained or gone: what is in them can be claimed and decided."""

from __future__ import annotations

import pytest

from backend.domain.refusals import InvalidField, NotFound, QueueDraining
from backend.services import policies
from backend.services.admission import refuse_queue
from backend.services.policies import activate
from backend.services.submit import submit, submit_case
from backend.services.succession import Change
from shared.vocabulary import Role, Verdict
from tests.support.desk import Desk
from tests.support.gateway import case, row
from tests.support.office import (
    DELETED,
    DRAINED,
    MERGED,
    MERGED_UPWARDS,
    RENAMED,
    UNDECIDED,
    Office,
    change,
    in_queues,
)
from tests.support.renaming import STANDARD, drained, merged, renamed, versioned


@pytest.fixture
async def office(desk: Desk) -> Office:
    made = Office(desk)
    await made.fill()
    return made


@pytest.mark.parametrize(
    ("text", "heir", "how"),
    [
        (RENAMED, "files", Change.RENAMED),
        (MERGED, "posts", Change.MERGED),
        (MERGED_UPWARDS, "escalation", Change.MERGED),
    ],
    ids=["renamed", "merged", "merged-upwards"],
)
async def test_what_is_in_a_queue_goes_on_in_the_one_that_takes_its_place(
    desk: Desk, office: Office, text: str, heir: str, how: Change
) -> None:
    before = await desk.admin.fetch("SELECT * FROM item ORDER BY id")
    activated = await change(desk, text)
    told = {one.queue: one for one in activated.queues}["cases"]
    assert (told.change, told.successor, told.moved) == (how, heir, UNDECIDED)
    assert await in_queues(desk) == {heir: UNDECIDED}
    after = await desk.admin.fetch("SELECT * FROM item ORDER BY id")
    for old, new in zip(before, after, strict=True):
        moved = {name for name in old.keys() if old[name] != new[name]}  # noqa: SIM118 - a record
        assert moved == (set() if old["state"] == "resolved" else {"queue"})
    events = await desk.admin.fetch("SELECT canonical FROM event WHERE type = 'item.moved'")
    assert len(events) == UNDECIDED
    assert b'"data":{"from":"cases","item":"' in events[0]["canonical"]
    assert f'"to":"{heir}","why":"renamed"'.encode() in events[0]["canonical"]
    await office.decide_what_is_held()
    await office.decide_the_rest()
    await office.is_done()


async def test_a_long_queue_goes_over_in_pieces(
    desk: Desk, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "CHUNK", 2)
    activated = await change(desk, RENAMED)
    assert [one.moved for one in activated.queues if one.queue == "cases"] == [UNDECIDED]
    assert await in_queues(desk) == {"files": UNDECIDED}
    await office.decide_what_is_held()
    await office.decide_the_rest()
    await office.is_done()


async def test_a_policy_that_would_lose_undecided_items_is_not_put_in_force(
    desk: Desk, office: Office
) -> None:
    with pytest.raises(InvalidField) as refused:
        await activate(desk.db, 1, DELETED)
    assert refused.value.field == "queues"
    assert refused.value.detail == (
        "queue cases is gone from it and holds 7 undecided (4 queued, 2 leased, 1 parked): keep it"
        " with draining = true until they are decided, or name it in formerly of the queue that"
        " takes its place; the policy has posts, escalation"
    )
    assert await desk.value("SELECT count(*) FROM policy_version") == 1
    assert await desk.value("SELECT count(*) FROM queue WHERE disabled_at IS NOT NULL") == 0
    assert await in_queues(desk) == {"cases": UNDECIDED}
    await office.decide_what_is_held()
    await office.decide_the_rest()
    await office.is_done()


@pytest.mark.parametrize("state", ["queued", "leased", "parked"])
async def test_one_undecided_item_is_enough(desk: Desk, state: str) -> None:
    item = await desk.item(queue="cases")
    if state != "queued":
        await desk.lease(await desk.person("ana"), "cases")
    if state == "parked":
        await desk.admin.execute(
            "UPDATE item SET state = 'parked', owner = NULL, fence_token = NULL, claim_key = NULL,"
            " terminal = NULL, leased_at = NULL, lease_expires = NULL, parked_at = clock(),"
            " wake_at = clock() + interval '1 day' WHERE id = $1",
            item,
        )
    with pytest.raises(InvalidField, match=f"holds 1 undecided .1 {state}."):
        await activate(desk.db, 1, DELETED)


async def test_a_queue_drains_until_it_can_go(desk: Desk, office: Office) -> None:
    producer = await desk.person("shop", Role.PRODUCER)
    await submit_case(desk.db, desk.policy, producer, "cases", case("early"))
    activated = await change(desk, DRAINED)
    assert [(one.queue, one.change) for one in activated.queues] == [("cases", Change.DRAINS)]
    assert (await activate_again(desk)) == ()
    with pytest.raises(QueueDraining) as refused:
        await submit_case(desk.db, desk.policy, producer, "cases", case("late"))
    assert (refused.value.field, refused.value.status) == ("queue", 409)
    assert await desk.value("SELECT count(*) FROM content WHERE content_id = 'late'") == 0
    again = await submit_case(desk.db, desk.policy, producer, "cases", case("early"))
    assert (again.created, again.queue) == (False, "cases")
    with pytest.raises(QueueDraining):
        refuse_queue(desk.policy, producer, row("late", queue="cases"))
    (receipt,) = await submit(desk.db, desk.policy, producer, [row("k", {"hate": 0.5}, kind="kyc")])
    assert receipt.queue == "posts"
    await office.decide_what_is_held()
    await office.decide_the_rest()
    await office.is_done()
    assert [(one.queue, one.change) for one in (await change(desk, gone())).queues] == [
        ("cases", Change.CLOSED)
    ]
    with pytest.raises(NotFound):
        await submit_case(desk.db, desk.policy, producer, "cases", case("too-late"))
    with pytest.raises(InvalidField):
        refuse_queue(desk.policy, producer, row("too-late", queue="cases"))


async def activate_again(desk: Desk) -> tuple[object, ...]:
    return (await policies.put_in_force(desk.db, 1, DRAINED)).queues


def gone() -> str:
    return versioned(DELETED, "v-3")


@pytest.mark.parametrize("heir", ["posts", "escalation"])
async def test_a_verdict_that_waits_finds_the_queue_above_after_its_own_is_gone(
    desk: Desk, heir: str
) -> None:
    """The pending escalate of a queue that was empty and left, of one merged, of one renamed."""
    ana = await desk.person("ana")
    await desk.item("c-1", queue="cases")
    await desk.decide(ana, await desk.lease(ana, "cases"), Verdict.ESCALATE)
    await change(desk, DELETED if heir == "posts" else MERGED_UPWARDS)
    # And the queue above has another name by now, which nobody knew when the verdict was given.
    await change(desk, renamed(desk_text(heir), "escalation", "seniors", "v-3"))
    assert await desk.apply_all() == 1
    assert await in_queues(desk) == {"seniors": 1}
    lease = await desk.lease(await desk.person("ben", queue="seniors"), "seniors")
    assert (lease.round, lease.content_id) == (2, "c-1")


async def test_it_goes_up_by_the_terms_of_the_queue_that_took_its_place(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("c-1", queue="cases", rank=5)
    await desk.decide(ana, await desk.lease(ana, "cases"), Verdict.ESCALATE)
    head, files = RENAMED.split("[queues.files]")
    boosted = files.replace("escalation_boost = 10", "escalation_boost = 77", 1)
    await change(desk, f"{head}[queues.files]{boosted}")
    await desk.apply_all()
    assert await desk.value("SELECT base FROM item WHERE round = 2") == 82.0


def desk_text(heir: str) -> str:
    return DELETED if heir == "posts" else MERGED_UPWARDS


async def test_a_queue_can_go_back_to_its_old_name(desk: Desk, office: Office) -> None:
    await change(desk, RENAMED)
    with pytest.raises(InvalidField, match="queue files is gone from it and holds 7 undecided"):
        await activate(desk.db, 1, STANDARD)
    back = renamed(RENAMED, "files", "cases", "v-3")
    told = (await change(desk, back)).queues
    assert [(one.queue, one.change, one.successor, one.moved) for one in told] == [
        ("cases", Change.OPENED, None, 0),
        ("files", Change.RENAMED, "cases", UNDECIDED),
    ]
    assert desk.policy.queue_named("files") == "cases"
    await office.decide_what_is_held()
    await office.decide_the_rest()
    await office.is_done()
    await change(desk, STANDARD)  # by now there is nothing that could be lost
    assert desk.policy.queue_named("files") == "cases"
    assert await desk.value("SELECT successor FROM queue WHERE name = 'cases'") is None


async def test_a_policy_that_merges_and_drains_tells_each(desk: Desk) -> None:
    await change(desk, merged(STANDARD, "posts", "cases", "v-2"))
    assert desk.policy.default_queue == "cases"
    told = (await change(desk, drained(STANDARD, "cases", "v-3"))).queues
    assert [(one.queue, one.change) for one in told] == [
        ("posts", Change.OPENED),
        ("cases", Change.DRAINS),
    ]
    told = (await change(desk, versioned(STANDARD, "v-4"))).queues
    assert [(one.queue, one.change) for one in told] == [("cases", Change.OPENED)]


async def test_kinds_that_no_queue_names_any_more_are_told(desk: Desk) -> None:
    assert (await change(desk, RENAMED)).unrouted == ()
    loose = ("kyc", "payout", "llm_answer", "case")
    await change(desk, versioned(STANDARD, "v-3"))
    assert (await change(desk, versioned(DRAINED, "v-4"))).unrouted == loose
    assert (await change(desk, versioned(DRAINED, "v-4"))).unrouted == ()
    await change(desk, versioned(STANDARD, "v-5"))
    # Where the default takes the place of their queue, that is where they go anyway.
    assert (await change(desk, versioned(MERGED, "v-6"))).unrouted == ()
    await change(desk, versioned(STANDARD, "v-7"))
    assert (await change(desk, versioned(DELETED, "v-8"))).unrouted == loose

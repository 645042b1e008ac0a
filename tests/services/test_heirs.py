"""Names and grants of a queue that another took the place of: who may do what under which."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backend.db.connection import Database
from backend.domain.refusals import Busy, Forbidden, NotFound
from backend.services.admission import refuse_queue
from backend.services.claim import claim, my_lease, queue_view
from backend.services.lease import renew
from backend.services.policies import ActivePolicy, activate
from backend.services.submit import submit, submit_case
from shared.vocabulary import Role
from shared.wire.queue import RenewRequest
from tests.support.desk import Desk, new_key
from tests.support.gateway import case, row
from tests.support.office import (
    DELETED,
    MERGED,
    RENAMED,
    as_known_now,
    change,
    decided_by,
)
from tests.support.renaming import STANDARD, renamed, versioned


async def test_whoever_says_an_old_name_gets_the_queue_of_today(desk: Desk) -> None:
    producer = await desk.person("shop", Role.PRODUCER)
    await change(desk, RENAMED)
    later = renamed(RENAMED, "files", "folders", "v-3")
    await change(desk, later)
    assert await desk.value("SELECT successor FROM queue WHERE name = 'cases'") == "folders"
    for name in ("cases", "files", "folders"):
        receipt = await submit_case(desk.db, desk.policy, producer, name, case(f"case-{name}"))
        assert receipt.queue == "folders"
        refuse_queue(desk.policy, producer, row("c", queue=name))
        sent = row(f"post-{name}", {"hate": 0.5}, queue=name)
        (receipt,) = await submit(desk.db, desk.policy, producer, [sent])
        assert receipt.queue == "folders"
        ana = await desk.person(f"ana-{name}")
        assert (await queue_view(desk.db, desk.policy, ana, name)).queue == "folders"
        assert (await desk.lease(ana, name)).queue == "folders"
    with pytest.raises(NotFound):
        await claim(desk.db, desk.policy, producer, "nowhere", new_key())


async def test_grants_for_a_queue_follow_it_once(desk: Desk) -> None:
    ana = await desk.person("ana", Role.REVIEWER, Role.LEAD, queue="cases")
    ben = await desk.person("ben", queue="posts")
    await change(desk, RENAMED)
    assert {(grant.role, grant.queue) for grant in (await as_known_now(desk, ana)).grants} == {
        (role, queue) for role in (Role.REVIEWER, Role.LEAD) for queue in ("cases", "files")
    }
    assert [grant.queue for grant in (await as_known_now(desk, ben)).grants] == ["posts"]
    # What was taken from somebody since does not come back with the next activation.
    await desk.admin.execute("DELETE FROM role_grant WHERE queue = 'files' AND role = 'lead'")
    await change(desk, RENAMED)
    await change(desk, renamed(RENAMED, "files", "folders", "v-3"))
    grants = {(grant.role, grant.queue) for grant in (await as_known_now(desk, ana)).grants}
    assert (Role.REVIEWER, "folders") in grants
    assert (Role.LEAD, "folders") not in grants


async def test_grants_follow_also_when_the_heir_is_named_later(desk: Desk) -> None:
    ana = await desk.person("ana", queue="cases")
    await change(desk, DELETED)
    assert [grant.queue for grant in (await as_known_now(desk, ana)).grants] == ["cases"]
    await change(desk, versioned(MERGED, "v-3"))
    queues = {grant.queue for grant in (await as_known_now(desk, ana)).grants}
    assert queues == {"cases", "posts"}
    assert desk.policy.queue_named("cases") == "posts"


async def test_another_tenant_keeps_its_queues_and_grants(desk: Desk) -> None:
    other = await desk.value("INSERT INTO tenant (name) VALUES ('other') RETURNING id")
    await activate(desk.db, other, STANDARD)
    person = await desk.value(
        "INSERT INTO principal (tenant_id, name, kind) VALUES ($1, 'eva', 'person') RETURNING id",
        other,
    )
    await desk.admin.execute(
        "INSERT INTO role_grant (principal_id, role, queue) VALUES ($1, 'reviewer', 'cases')",
        person,
    )
    await change(desk, RENAMED)
    theirs = "SELECT count(*) FROM queue WHERE tenant_id = $1 AND disabled_at IS NULL"
    assert await desk.value(theirs, other) == 3
    grants = "SELECT array_agg(queue::text) FROM role_grant WHERE principal_id = $1"
    assert await desk.value(grants, person) == ["cases"]


async def test_a_process_that_hears_of_the_policy_late_asks_for_a_second(desk: Desk) -> None:
    """Its policy is up to a second old, and what it knows of a key half of one."""
    old = desk.policy
    ana = await desk.person("ana", queue="cases")
    await desk.item(queue="cases")
    lease = await desk.lease(ana, "cases")
    await change(desk, RENAMED)
    new, desk.policy = desk.policy, old
    with pytest.raises(Busy) as asked:
        await desk.decide(ana, lease)
    assert asked.value.extra == {"retry_after_ms": 1000}
    desk.policy = new
    with pytest.raises(Busy):
        await decided_by(desk, ana, lease)
    with pytest.raises(Forbidden):
        await claim(desk.db, new, await desk.person("ben", queue="posts"), "files", new_key())
    asked_for = RenewRequest(lease_token=lease.lease_token)
    with pytest.raises(Busy):
        await renew(desk.db, new, ana, lease.item_id, asked_for)
    known = await as_known_now(desk, ana)
    assert (await renew(desk.db, new, known, lease.item_id, asked_for)).expires_in_ms > 0
    mine = await my_lease(desk.db, new, ana)
    assert mine.lease is not None
    assert mine.lease.verdicts == new.queues["files"].verdicts
    await decided_by(desk, await as_known_now(desk, ana), lease)


async def test_a_right_that_was_taken_away_after_a_rename_is_refused_and_not_put_off(
    desk: Desk,
) -> None:
    ana = await desk.person("ana", queue="cases")
    await change(desk, RENAMED)
    await desk.admin.execute("DELETE FROM role_grant WHERE queue = 'files'")
    ana = await as_known_now(desk, ana)
    assert [grant.queue for grant in ana.grants] == ["cases"]
    active = ActivePolicy(desk.db, keep_seconds=0)
    for span, refusal in ((4, Busy), (2, Forbidden)):
        await desk.pass_time(timedelta(seconds=span))
        with pytest.raises(refusal):
            await claim(desk.db, await active.of(1), ana, "files", new_key())


async def test_every_process_learns_what_took_the_place_of_a_queue(
    desk: Desk, database: Database
) -> None:
    active = ActivePolicy(database, keep_seconds=0)
    assert (await active.of(1)).queue_named("cases") == "cases"
    await change(desk, RENAMED)
    await change(desk, renamed(RENAMED, "files", "folders", "v-3"))
    known = await active.of(1)
    assert known.queue_named("cases") == "folders"
    assert await active.of(1) is known

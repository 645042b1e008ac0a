"""What waits and nobody present may take: shown to leads as such, as figures and as a list."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backend.domain.identity import Identity
from backend.services.cockpit import health
from backend.services.policies import shipped_policy
from shared.vocabulary import ItemList, Role
from tests.services.lists import ids, lines
from tests.support.desk import QUEUE, Desk
from tests.support.office import change


@pytest.fixture
async def lead(desk: Desk) -> Identity:
    return await desk.person("lead", Role.LEAD)


async def seen(desk: Desk, who: Identity) -> None:
    """Note that a person's key was used."""
    await desk.admin.execute(
        "INSERT INTO api_key (id, principal_id, env, secret_sha256, last_used_at)"
        " VALUES (right('aaaaaaaaaaaa' || $1::bigint, 12), $1, 'test', sha256('x'), clock())"
        " ON CONFLICT (id) DO UPDATE SET last_used_at = clock()",
        who.principal_id,
    )


async def nobodys(desk: Desk, lead: Identity, queue: str = QUEUE) -> tuple[int, list[str]]:
    """Return who is present, and what nobody of them may take: as figures and as a list."""
    listed = ids(await lines(desk, lead, ItemList.UNCLAIMABLE, 2, queue))
    figures = await health(desk.db, desk.policy, lead)
    row = next(each for each in figures.queues if each.queue == queue)
    assert row.unclaimable == len(listed)
    return row.present, listed


async def kept_away(desk: Desk, who: Identity, *contents: str, until: str = "1 hour") -> None:
    await desk.admin.execute(
        "INSERT INTO exclusion (item_id, principal_id, until, why)"
        " SELECT i.id, $1, clock() + $3::text::interval, 'released' FROM item i"
        " JOIN content n ON n.id = i.content_id WHERE n.content_id = ANY ($2)",
        who.principal_id,
        contents,
        until,
    )


async def test_what_nobody_present_may_take_is_listed(desk: Desk, lead: Identity) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    for number in range(4):
        await desk.item(f"c-{number}", rank=9 - number)
    assert await nobodys(desk, lead) == (0, ["c-0", "c-1", "c-2", "c-3"])
    await seen(desk, ana)
    assert await nobodys(desk, lead) == (1, [])
    await kept_away(desk, ana, "c-0", "c-2")
    assert await nobodys(desk, lead) == (1, ["c-0", "c-2"])
    await kept_away(desk, ben, "c-3")
    await seen(desk, ben)
    assert await nobodys(desk, lead) == (2, [])
    await kept_away(desk, ben, "c-2", until="10 minutes")
    assert await nobodys(desk, lead) == (2, ["c-2"])
    # Time ends what kept people away, and the presence of those who are not seen again.
    await desk.pass_time(timedelta(minutes=10))
    await seen(desk, ana)
    assert await nobodys(desk, lead) == (2, [])
    await desk.pass_time(timedelta(minutes=5))
    assert await nobodys(desk, lead) == (1, ["c-0", "c-2"])


async def test_for_good_and_by_content_counts_as_well(desk: Desk, lead: Identity) -> None:
    ana = await desk.person("ana")
    await desk.item("c-0")
    await desk.item("c-1")
    await desk.admin.execute(
        "INSERT INTO exclusion (content_id, principal_id, why)"
        " SELECT id, $1, 'author' FROM content WHERE content_id = 'c-1'",
        ana.principal_id,
    )
    await seen(desk, ana)
    assert await nobodys(desk, lead) == (1, ["c-1"])


async def test_present_is_who_may_work_here_with_a_key_that_is_good(
    desk: Desk, lead: Identity
) -> None:
    await desk.item()
    other = await desk.person("other-queue", queue="cases")
    gone, left = await desk.person("gone"), await desk.person("left")
    producer = await desk.person("producer-2", Role.PRODUCER)
    for who in (other, gone, left, producer):
        await seen(desk, who)
    await desk.admin.execute(
        "UPDATE api_key SET revoked_at = clock() WHERE principal_id = $1", gone.principal_id
    )
    await desk.admin.execute("UPDATE principal SET active = false WHERE id = $1", left.principal_id)
    await seen(desk, lead)  # a lead who looks on is nobody who will take it
    assert await nobodys(desk, lead) == (0, ["c-1"])
    second = await desk.person("second", Role.LEAD)
    await seen(desk, second)
    assert await nobodys(desk, lead) == (1, [])
    both = await desk.person("both", Role.LEAD, Role.REVIEWER)
    await seen(desk, both)
    assert (await nobodys(desk, both))[0] == 3  # himself, and both leads
    assert (await nobodys(desk, lead, "cases"))[0] == 3


async def test_where_only_leads_claim_a_reviewer_is_nobody(desk: Desk, lead: Identity) -> None:
    text = shipped_policy().replace('version = "', 'version = "leads-', 1)
    in_posts, rest = text.split('claimable_by = ["reviewer", "lead"]', 1)
    await change(desk, f'{in_posts}claimable_by = ["lead"]{rest}')
    assert desk.policy.queues[QUEUE].claimable_by == (Role.LEAD,)
    ana = await desk.person("ana")
    await desk.item()
    await seen(desk, ana)
    assert await nobodys(desk, lead) == (0, ["c-1"])
    await seen(desk, await desk.person("second", Role.LEAD))
    assert await nobodys(desk, lead) == (1, [])
    assert (await nobodys(desk, lead, "cases"))[0] == 2  # there she counts as well

"""What was parked comes back by the next claim: nothing else need run for it."""

from __future__ import annotations

from datetime import timedelta

from backend.domain.identity import Identity
from backend.services.claim import claim, queue_view
from backend.services.claim_any import claim_any
from shared.wire.queue import ClaimAnyRequest
from tests.support.desk import QUEUE, Desk, new_key

HOUR = timedelta(hours=1)


async def parked(desk: Desk, content_id: str, *, rank: float, queue: str = QUEUE) -> int:
    """Have somebody park an item for an hour, as the table shows it then."""
    by = await desk.person(f"parker-{content_id}")
    item = await desk.item(content_id, rank=rank, queue=queue)
    lease = await desk.lease(by, queue)
    assert lease.item_id == str(item)
    await desk.admin.execute(
        "UPDATE item SET state = 'parked', owner = NULL, fence_token = NULL, claim_key = NULL,"
        " leased_at = NULL, lease_expires = NULL, lease_epoch = lease_epoch + 1,"
        " parked_at = clock(), wake_at = clock() + $2 WHERE id = $1",
        item,
        HOUR,
    )
    return item


async def served(desk: Desk, who: Identity, queue: str = QUEUE) -> str | None:
    answer = await claim(desk.db, desk.policy, who, queue, new_key())
    return None if answer.lease is None else answer.lease.content_id


async def test_a_parked_item_is_nobodys_until_it_is_due(desk: Desk) -> None:
    await parked(desk, "asked", rank=9)
    ana = await desk.person("ana")
    answer = await claim(desk.db, desk.policy, ana, QUEUE, new_key())
    assert answer.lease is None
    assert answer.figures is not None
    assert (answer.figures.free, answer.figures.held, answer.figures.parked) == (0, 0, 1)


async def test_a_due_item_is_granted_by_the_claim_that_found_nothing_else(desk: Desk) -> None:
    await parked(desk, "asked", rank=9)
    await desk.pass_time(HOUR)
    assert await served(desk, await desk.person("ana")) == "asked"


async def test_a_due_item_goes_before_what_ranks_lower_from_the_next_claim_on(desk: Desk) -> None:
    await parked(desk, "asked", rank=9)
    for number in range(2):
        await desk.item(f"other-{number}", rank=1)
    await desk.pass_time(HOUR)
    people = [await desk.person(name) for name in ("ana", "ben", "cy")]
    assert [await served(desk, who) for who in people] == ["other-0", "asked", "other-1"]


async def test_the_sla_clock_stood_still_while_it_was_parked_and_the_rank_is_as_before(
    desk: Desk,
) -> None:
    item = await parked(desk, "asked", rank=9)
    await desk.pass_time(2 * HOUR)
    lease = await desk.lease(await desk.person("ana"))
    assert (lease.rank, lease.waited_ms >= 7_200_000) == (9, True)
    assert lease.sla_age_ms < 60_000
    row = await desk.admin.fetchrow("SELECT * FROM item WHERE id = $1", item)
    assert row is not None
    assert (row["parked_at"], row["wake_at"]) == (None, None)
    woken = await desk.admin.fetchrow("SELECT * FROM lease_log WHERE happening = 'wake'")
    assert woken is not None
    assert (woken["item_id"], woken["principal_id"], woken["lease_epoch"]) == (item, None, 2)


async def test_what_is_due_is_free_in_the_figures_before_anybody_woke_it(desk: Desk) -> None:
    await parked(desk, "asked", rank=9)
    await desk.pass_time(HOUR)
    ana = await desk.person("ana")
    figures = (await queue_view(desk.db, desk.policy, ana, QUEUE)).figures
    assert (figures.free, figures.parked, figures.not_for_you) == (1, 0, 0)


async def test_a_claim_wakes_in_its_own_queue_alone(desk: Desk) -> None:
    await parked(desk, "asked", rank=9, queue="cases")
    await desk.pass_time(HOUR)
    ana = await desk.person("ana")
    assert await served(desk, ana) is None
    assert await desk.value("SELECT state FROM item") == "parked"
    request = ClaimAnyRequest(claim_key=new_key())
    lease = (await claim_any(desk.db, desk.policy, ana, request)).lease
    assert lease is not None
    assert lease.content_id == "asked"

"""Whose right to a queue is gone may give back what he holds, and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec import structs

from backend.domain.identity import Grant, Identity
from backend.domain.refusals import Forbidden, StaleLease
from backend.services.claim import my_lease
from backend.services.lease import renew
from shared.vocabulary import Role
from shared.wire.queue import Lease, RenewRequest
from tests.services.deeds import LAPSED, give_up, go_on_at
from tests.support.desk import Desk


def sent_elsewhere(who: Identity) -> Identity:
    """Return the same person with a role in another queue only."""
    return structs.replace(who, grants=(Grant(role=Role.REVIEWER, queue="cases"),))


def renewal(lease: Lease) -> RenewRequest:
    return RenewRequest(lease_token=lease.lease_token)


@pytest.mark.parametrize("later", [timedelta(0), LAPSED], ids=["live", "lapsed"])
async def test_what_one_may_not_work_on_any_more_is_given_back_and_not_kept(
    desk: Desk, later: timedelta
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(later)
    before = await desk.admin.fetchrow("SELECT * FROM item")
    gone = sent_elsewhere(ana)
    with pytest.raises(Forbidden):
        await renew(desk.db, desk.policy, gone, lease.item_id, renewal(lease))
    with pytest.raises(Forbidden):
        await go_on_at(desk, gone)
    assert await desk.admin.fetchrow("SELECT * FROM item") == before
    assert await desk.value("SELECT count(*) FROM lease_log") == 1
    assert (await my_lease(desk.db, desk.policy, gone)).lease is not None
    await give_up(desk, gone, lease)
    assert (await my_lease(desk.db, desk.policy, gone)).lease is None


async def test_nothing_can_be_claimed_again_in_a_queue_that_is_gone(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await give_up(desk, ana, lease)
    await desk.pass_time(timedelta(hours=1))
    for disabled, can in (("NULL", True), ("clock()", False)):
        await desk.admin.execute(f"UPDATE queue SET disabled_at = {disabled} WHERE name = 'posts'")
        with pytest.raises(StaleLease) as refused:
            await renew(desk.db, desk.policy, ana, lease.item_id, renewal(lease))
        assert (refused.value.extra["now"], refused.value.extra["can_reclaim"]) == ("free", can)

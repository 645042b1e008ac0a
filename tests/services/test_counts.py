"""Counts can't drift: whatever is done to a queue, every figure shown is what the tables hold.

Nothing is counted up or down anywhere, so there is nothing to drift; this plays long random days,
deeds cut off in the middle among them, and compares after each.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import LeaseHeld, Refusal
from backend.services.claim import claim, queue_view
from backend.services.cockpit import health
from backend.services.items import item_page
from backend.services.lease import renew
from backend.services.move import move
from backend.services.redrive import redrive
from backend.services.reopen import reopen
from backend.services.take_back import take_back
from backend.services.withdraw import withdraw_content, withdraw_items
from shared.vocabulary import ItemList, ReleaseReason, Role, TakeBackReason
from shared.wire.cockpit import QueueHealth
from shared.wire.item import MoveRequest, ReopenRequest, TakeBackRequest, WithdrawItemsRequest
from shared.wire.queue import Lease, QueueFigures, RenewRequest
from tests.services.deeds import give_up, set_aside
from tests.support.desk import Desk, new_key
from tests.support.trail import assert_every_chain_is_whole

QUEUES = ("posts", "cases", "escalation")
ROUNDS = 150
STILL = """
CREATE OR REPLACE FUNCTION clock() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS $$ SELECT timestamptz '2030-01-01' + (SELECT shift FROM fencepost.test_clock) $$;
"""
ITEM_COUNTS = """
SELECT count(*) FILTER (WHERE state = 'queued' AND NOT abandoned) AS queued,
  count(*) FILTER (WHERE state = 'leased' AND lease_expires > clock()) AS held,
  count(*) FILTER (WHERE state = 'leased' AND lease_expires <= clock()) AS lapsed,
  count(*) FILTER (WHERE state = 'queued' AND abandoned) AS escalating,
  count(*) FILTER (WHERE state = 'leased' AND lease_expires <= clock() AND stuck_at IS NULL
    AND (SELECT count(DISTINCT l) FROM unnest(left_by || owner) AS l) >=
      (SELECT abandon_threshold FROM queue WHERE name = $1)) AS leaving,
  count(*) FILTER (WHERE state = 'parked') AS parked,
  count(*) FILTER (WHERE state = 'parked' AND wake_at <= clock()) AS due,
  count(*) FILTER (WHERE stuck_at IS NOT NULL AND state <> 'resolved') AS stuck
FROM item WHERE queue = $1
"""
LEASED_OFTEN = """
SELECT count(*) FILTER (WHERE lease_count = 0), count(*) FILTER (WHERE lease_count = 1),
  count(*) FILTER (WHERE lease_count = 2), count(*) FILTER (WHERE lease_count = 3),
  count(*) FILTER (WHERE lease_count = 4), count(*) FILTER (WHERE lease_count >= 5)
FROM item WHERE queue = $1 AND state <> 'resolved'
"""


class Play:
    """People who do one thing after another, as chance has it."""

    def __init__(self, desk: Desk, chance: random.Random) -> None:
        self.desk = desk
        self.chance = chance
        self.people: list[Identity] = []
        self.leases: list[tuple[Identity, Lease]] = []
        self.made = 0

    async def open(self) -> None:
        # Time stands still between two deeds, so that nothing runs out between two counts.
        await self.desk.admin.execute("SET ROLE fencepost_owner")
        await self.desk.admin.execute(STILL)
        await self.desk.admin.execute("RESET ROLE")
        self.people = [await self.desk.person(f"p{number}") for number in range(4)]
        self.lead = await self.desk.person("lead", Role.LEAD, Role.PRODUCER)
        for _ in range(12):
            await self.arrive()
        await self.desk.pass_time(timedelta(seconds=1))

    async def close(self) -> None:
        """End with what must have happened once in each day."""
        ana = await self.desk.person("ana")
        await self.desk.item("last", rank=10_000, queue="cases")
        lease = await self.desk.lease(ana, "cases")
        await self.desk.decide(ana, lease)
        await self.desk.apply_all()
        again = await reopen(
            self.desk.db, self.desk.policy, self.lead, lease.content_id, ReopenRequest()
        )
        await assert_all_is_as_shown(self.desk, self.lead)
        await withdraw_items(self.desk.db, self.lead, WithdrawItemsRequest(items=(again.item_id,)))

    async def arrive(self) -> None:
        self.made += 1
        queue, rank = self.chance.choice(QUEUES), self.chance.randint(1, 9)
        await self.desk.item(f"c-{self.made}", queue=queue, rank=rank)

    async def take(self) -> None:
        who, queue = self.chance.choice(self.people), self.chance.choice(QUEUES)
        answer = await claim(self.desk.db, self.desk.policy, who, queue, new_key())
        if answer.lease is not None:
            self.leases.append((who, answer.lease))

    async def decide(self) -> None:
        who, lease = self.one_of_theirs()
        said = self.chance.choice(self.desk.policy.queues[lease.queue].verdicts)
        await self.desk.decide(who, lease, said)

    async def keep(self) -> None:
        who, lease = self.one_of_theirs()
        token = RenewRequest(lease_token=lease.lease_token)
        await renew(self.desk.db, self.desk.policy, who, lease.item_id, token)

    async def give_up(self) -> None:
        who, lease = self.one_of_theirs()
        reason = self.chance.choice((ReleaseReason.NEED_TIME, ReleaseReason.TECH))
        await give_up(self.desk, who, lease, reason)

    async def park(self) -> None:
        who, lease = self.one_of_theirs()
        span = timedelta(minutes=self.chance.randint(2, 30))
        until = await self.desk.value("SELECT clock()") + span
        await set_aside(self.desk, who, lease, until=until)

    async def fetch_back(self) -> None:
        _, lease = self.one_of_theirs()
        epoch = await self.desk.value(
            "SELECT lease_epoch FROM item WHERE id = $1", int(lease.item_id)
        )
        request = TakeBackRequest(lease_epoch=epoch, reason=TakeBackReason.MISTAKE)
        await take_back(self.desk.db, self.lead, lease.item_id, request)

    async def move(self) -> None:
        request = MoveRequest(items=self.some_items(), to=self.chance.choice(QUEUES))
        await move(self.desk.db, self.desk.policy, self.lead, request)

    async def withdraw(self) -> None:
        request = WithdrawItemsRequest(items=self.some_items()[:2])
        await withdraw_items(self.desk.db, self.lead, request)

    async def retract(self) -> None:
        await withdraw_content(self.desk.db, self.lead, self.a_content())

    async def reopen(self) -> None:
        request = ReopenRequest(queue=self.chance.choice((None, *QUEUES)))
        await reopen(self.desk.db, self.desk.policy, self.lead, self.a_content(), request)

    async def wait(self) -> None:
        await self.desk.pass_time(timedelta(seconds=self.chance.choice((5, 60, 200, 900))))

    async def tidy(self) -> None:
        await redrive(self.desk.db)

    async def apply(self) -> None:
        await self.desk.apply_all()

    def one_of_theirs(self) -> tuple[Identity, Lease]:
        """Return a lease that may have ended long ago."""
        if not self.leases:
            raise LeaseHeld("nobody holds anything yet")
        return self.chance.choice(self.leases[-6:])

    def some_items(self) -> tuple[str, ...]:
        return tuple(str(self.chance.randint(1, self.made + 2)) for _ in range(4))

    def a_content(self) -> str:
        return f"c-{self.chance.randint(1, self.made)}"

    async def cut_off(self, deed: Awaitable[None]) -> None:
        """Do a deed whose caller goes away in the middle of it."""
        task = asyncio.ensure_future(deed)
        await asyncio.sleep(self.chance.random() * 0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def shown(desk: Desk, lead: Identity) -> dict[str, tuple[QueueHealth, QueueFigures]]:
    told = await health(desk.db, desk.policy, lead)
    return {
        row.queue: (row, (await queue_view(desk.db, desk.policy, lead, row.queue)).figures)
        for row in told.queues
    }


async def listed(desk: Desk, lead: Identity, queue: str, wanted: ItemList) -> int:
    return len((await item_page(desk.db, desk.policy, lead, queue, wanted, None, 200)).items)


async def assert_all_is_as_shown(desk: Desk, lead: Identity) -> None:
    for queue, (row, figures) in (await shown(desk, lead)).items():
        held: Any = await desk.admin.fetchrow(ITEM_COUNTS, queue)
        assert row.waiting == held["queued"] + held["lapsed"]
        assert (row.in_review, row.lapsed) == (held["held"], held["lapsed"])
        assert (row.escalating, row.parked) == (held["escalating"], held["parked"])
        assert row.stuck == held["stuck"]
        often: Any = await desk.admin.fetchrow(LEASED_OFTEN, queue)
        assert row.lease_counts == tuple(often)
        assert row.unclaimable == held["queued"]  # nobody is present
        back = held["lapsed"] - held["leaving"]
        assert figures.free == held["queued"] + back + held["due"]
        assert figures.held == held["held"] + held["leaving"] + held["escalating"]
        assert figures.parked == held["parked"] - held["due"]
        assert await listed(desk, lead, queue, ItemList.WAITING) == held["queued"]
        assert await listed(desk, lead, queue, ItemList.UNCLAIMABLE) == row.unclaimable
        assert await listed(desk, lead, queue, ItemList.HELD) == held["held"] + held["lapsed"]
        assert await listed(desk, lead, queue, ItemList.PARKED) == held["parked"]
        left = held["stuck"] + held["escalating"]
        assert await listed(desk, lead, queue, ItemList.STUCK) == left


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2))]
)
async def test_every_count_is_what_the_tables_hold(desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    play = Play(desk, chance)
    await play.open()
    deeds: list[Callable[[], Awaitable[None]]] = [
        *(play.take, play.take, play.take, play.take, play.decide, play.decide, play.give_up),
        *(play.park, play.fetch_back, play.move, play.withdraw, play.retract, play.reopen),
        *(play.wait, play.wait, play.tidy, play.apply, play.arrive, play.keep),
    ]
    may_be_cut = (play.take, play.decide, play.move, play.withdraw, play.retract, play.reopen)
    refused = 0
    for number in range(ROUNDS):
        deed = chance.choice(deeds)
        if deed in may_be_cut and chance.random() < 0.15:
            await play.cut_off(deed())
        else:
            try:
                await deed()
            except Refusal:
                refused += 1
        if number % 5 == 0:
            await assert_all_is_as_shown(desk, play.lead)
    await assert_all_is_as_shown(desk, play.lead)
    await assert_every_chain_is_whole(desk.admin)
    assert refused < ROUNDS * 3 / 4
    await play.close()
    await assert_all_is_as_shown(desk, play.lead)

"""Waiting until there is something to claim: by news, by looking, and never by leasing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from backend.db.connection import Database
from backend.db.errors import UnavailableError
from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, InvalidField
from backend.services.available import Lookout, available
from backend.services.hub import Hub
from backend.services.news import depth
from shared.vocabulary import Role
from shared.wire.queue import Available
from tests.support.desk import Desk
from tests.support.postgres import Dsn

LAPSED = timedelta(minutes=4)
SOON = 0.2
LONG = 20.0


class Watch:
    """A lookout of this test, and what it was told to hear."""

    def __init__(self, desk: Desk, *, look_every: float = SOON) -> None:
        self.desk = desk
        self.hub = Hub()
        self.closing = asyncio.Event()
        self.lookout = Lookout(desk.db, self.hub, self.closing, look_every=look_every)

    async def ask(self, who: Identity, *queues: str, seconds: float = 0.0) -> Available:
        asked: Sequence[str] | None = queues or None
        return await available(self.lookout, self.desk.policy, who, asked, seconds)

    def asking(
        self, who: Identity, *queues: str, seconds: float = LONG
    ) -> asyncio.Task[tuple[str, ...]]:
        async def work() -> tuple[str, ...]:
            return (await self.ask(who, *queues, seconds=seconds)).queues

        return asyncio.create_task(work())

    def hear(self, queue: str) -> None:
        for news in depth(1, queue):
            self.hub.hear(news)


@pytest.fixture
def watch(desk: Desk) -> Watch:
    return Watch(desk)


@pytest.fixture
def deaf(desk: Desk) -> Watch:
    """One that looks again only when it hears something, or after a minute."""
    return Watch(desk, look_every=60.0)


async def test_what_is_there_is_told_at_once_and_stays_where_it_is(desk: Desk, deaf: Watch) -> None:
    await desk.item("a", queue="cases")
    answer = await asyncio.wait_for(deaf.ask(await desk.person("ana"), seconds=LONG), 5)
    assert answer.queues == ("cases",)
    free = {figures.queue: figures.free for figures in answer.figures}
    assert free == {"posts": 0, "cases": 1, "escalation": 0}
    assert await desk.value("SELECT state FROM item") == "queued"
    assert await desk.value("SELECT count(*) FROM lease_log") == 0


async def test_without_a_wait_the_answer_comes_at_once(desk: Desk, deaf: Watch) -> None:
    answer = await deaf.ask(await desk.person("ana"), "posts")
    assert answer.queues == ()
    assert [figures.queue for figures in answer.figures] == ["posts"]


async def test_news_of_a_queue_is_looked_into_at_once(desk: Desk, deaf: Watch) -> None:
    waiting = deaf.asking(await desk.person("ana"), "posts", "cases")
    other = deaf.asking(await desk.person("ben"), "cases")
    await asyncio.sleep(SOON)
    await desk.item()
    deaf.hear("posts")
    assert await asyncio.wait_for(waiting, 5) == ("posts",)
    assert not other.done(), "another queue is none of his"
    deaf.closing.set()
    deaf.hub.close()
    assert await other == ()


async def test_news_that_proves_wrong_does_not_end_the_wait(desk: Desk, deaf: Watch) -> None:
    waiting = deaf.asking(await desk.person("ana"), "posts")
    await asyncio.sleep(SOON)
    deaf.hear("posts")
    await asyncio.sleep(SOON)
    assert not waiting.done()
    await desk.item()
    deaf.hear("posts")
    assert await asyncio.wait_for(waiting, 5) == ("posts",)


async def test_nothing_need_be_heard_for_it_to_be_found(desk: Desk, watch: Watch) -> None:
    waiting = watch.asking(await desk.person("ana"))
    await asyncio.sleep(SOON)
    await desk.item()
    assert await asyncio.wait_for(waiting, 5) == ("posts",)


async def test_the_wait_ends_when_its_time_is_over(desk: Desk, watch: Watch) -> None:
    begun = asyncio.get_running_loop().time()
    assert (await watch.ask(await desk.person("ana"), seconds=0.5)).queues == ()
    assert 0.5 <= asyncio.get_running_loop().time() - begun < 5


async def test_what_one_may_not_take_is_not_offered_to_him(desk: Desk, watch: Watch) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    item = await desk.item("a")
    by_content = await desk.item("b")
    await desk.admin.execute(
        "INSERT INTO exclusion (item_id, principal_id, why) VALUES ($1, $2, 'conflict')",
        item,
        ana.principal_id,
    )
    await desk.admin.execute(
        "INSERT INTO exclusion (content_id, principal_id, until, why)"
        " SELECT content_id, $2, clock() + interval '1 hour', 'four_eyes' FROM item WHERE id = $1",
        by_content,
        ana.principal_id,
    )
    answer = await watch.ask(ana, "posts")
    assert answer.queues == ()
    assert (answer.figures[0].free, answer.figures[0].not_for_you) == (2, 2)
    assert (await watch.ask(ben, "posts")).queues == ("posts",)
    await desk.pass_time(timedelta(hours=2))
    assert (await watch.ask(ana, "posts")).queues == ("posts",)


async def test_a_run_out_lease_is_there_for_others_and_not_for_who_let_it_lapse(
    desk: Desk, watch: Watch
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    await desk.lease(ana)
    assert (await watch.ask(ben, "posts")).queues == ()
    await desk.pass_time(LAPSED)
    assert (await watch.ask(ben, "posts")).queues == ("posts",)
    mine = await watch.ask(ana, "posts")
    assert mine.queues == ()
    assert (mine.figures[0].free, mine.figures[0].not_for_you) == (1, 1)


async def test_the_last_lapse_before_escalation_offers_the_item_to_nobody(
    desk: Desk, watch: Watch
) -> None:
    await desk.item()
    for number in range(3):
        await desk.lease(await desk.person(f"p{number}"))
        await desk.pass_time(LAPSED)
    fourth = await desk.person("fourth")
    assert (await watch.ask(fourth, "posts")).queues == ()
    await desk.admin.execute("UPDATE item SET stuck_at = clock()")
    assert (await watch.ask(fourth, "posts")).queues == ("posts",), "stuck, and claimable for ever"


async def test_a_parked_item_is_there_once_it_is_due(desk: Desk, watch: Watch) -> None:
    await desk.item()
    await desk.lease(await desk.person("ben"))
    await desk.admin.execute(
        "UPDATE item SET state = 'parked', owner = NULL, fence_token = NULL, claim_key = NULL,"
        " lease_expires = NULL, parked_at = clock(), wake_at = clock() + interval '1 hour'"
    )
    ana = await desk.person("ana")
    assert (await watch.ask(ana, "posts")).queues == ()
    await desk.pass_time(timedelta(hours=1))
    assert (await watch.ask(ana, "posts")).queues == ("posts",)


async def test_many_who_wait_share_a_look_and_hold_no_connection(desk: Desk, dsn: Dsn) -> None:
    async with Database(dsn.runtime, size=1, durable=False, true_clock=False) as small:
        watch = Watch(desk)
        watch.lookout = Lookout(small, watch.hub, watch.closing, look_every=0.5)
        people = [await desk.person(f"p{number}") for number in range(40)]
        waiting = [watch.asking(who, "posts") for who in people]
        await asyncio.sleep(0.2)
        before = watch.lookout.looks
        await asyncio.sleep(2.0)
        looks = watch.lookout.looks - before
        async with asyncio.timeout(1), small.connection() as free:
            assert await free.fetchval("SELECT 1") == 1
        await desk.item()
        assert set(await asyncio.gather(*waiting)) == {("posts",)}
    assert 2 <= looks <= 8, "forty people, two looks a second"


async def test_news_without_end_is_looked_into_only_so_often(desk: Desk, deaf: Watch) -> None:
    waiting = deaf.asking(await desk.person("ana"), "posts", seconds=1.0)
    while not waiting.done():
        deaf.hear("posts")
        await asyncio.sleep(0.005)
    assert deaf.lookout.looks <= 12


async def test_all_waits_end_at_once_when_the_server_stops(desk: Desk, deaf: Watch) -> None:
    waiting = [deaf.asking(await desk.person(f"p{number}")) for number in range(5)]
    await asyncio.sleep(SOON)
    deaf.closing.set()
    deaf.hub.close()
    assert await asyncio.wait_for(asyncio.gather(*waiting), 1) == [()] * 5
    assert (
        await asyncio.wait_for(deaf.ask(await desk.person("late"), seconds=LONG), 1)
    ).queues == ()


async def test_who_goes_away_does_not_take_the_look_of_the_others_with_him(
    desk: Desk, watch: Watch
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    leaving, staying = watch.asking(ana, "posts"), watch.asking(ben, "posts")
    for _ in range(3):
        await asyncio.sleep(0)
    leaving.cancel()
    await desk.item()
    assert await asyncio.wait_for(staying, 5) == ("posts",)


async def test_a_look_that_fails_is_had_again_and_the_first_is_told(
    desk: Desk, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = watch.asking(await desk.person("ana"), "posts")
    await asyncio.sleep(SOON / 2)

    def broken() -> None:
        raise UnavailableError("no database")

    with monkeypatch.context() as patched:
        patched.setattr(watch.lookout.db, "connection", broken)
        await desk.item()
        await asyncio.sleep(2 * SOON)
        assert not waiting.done()
        with pytest.raises(UnavailableError):
            await asyncio.wait_for(watch.asking(await desk.person("ben"), "posts"), 2)
    assert await asyncio.wait_for(waiting, 5) == ("posts",)


async def test_only_ones_own_queues_are_watched(desk: Desk, watch: Watch) -> None:
    await desk.item("post")
    await desk.item("case", queue="cases")
    limited = await desk.person("limited", Role.REVIEWER, queue="cases")
    answer = await watch.ask(limited)
    assert answer.queues == ("cases",)
    assert [figures.queue for figures in answer.figures] == ["cases"]
    with pytest.raises(Forbidden) as refused:
        await watch.ask(limited, "cases", "posts")
    assert refused.value.field == "queue[1]"
    with pytest.raises(InvalidField) as unknown:
        await watch.ask(await desk.person("ana"), "nowhere")
    assert unknown.value.field == "queue[0]"

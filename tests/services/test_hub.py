"""The hub: news reaches whom it concerns, nothing grows, and slow readers are told so."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from itertools import pairwise

import pytest

from backend.domain.identity import Grant, Identity
from backend.domain.refusals import Busy
from backend.services import hub as hubs
from backend.services.hub import APART, STREAMS_EACH, WAITING_AT_MOST, Hub, Stream
from backend.services.news import LONGEST_PAYLOAD, RESYNC_ALL, News, heard, written
from shared.vocabulary import NewsKind, Role
from shared.wire.live import LiveEvent

RESYNC = LiveEvent(kind=NewsKind.RESYNC)


def person(
    key: int = 1, role: Role = Role.REVIEWER, queue: str | None = None, tenant: int = 1
) -> Identity:
    grants = (Grant(role=role, queue=queue),)
    return Identity(principal_id=key, tenant_id=tenant, name="x", key_id="k" * 12, grants=grants)


def depth_of(queue: str, tenant: int = 1) -> News:
    return News(kind=NewsKind.QUEUE_DEPTH, tenant_id=tenant, queue=queue)


def about(item: int, principal: int | None = None, queue: str | None = None) -> News:
    return News(
        kind=NewsKind.LEASE_REVOKED, tenant_id=1, item_pk=item, principal_id=principal, queue=queue
    )


async def taken(stream: Stream, within: float = 0) -> list[LiveEvent]:
    """Everything that can be taken now."""
    found = []
    while (event := await stream.take(within)) is not None:
        found.append(event)
    return found


async def test_a_stream_begins_with_a_resync() -> None:
    with Hub().stream(person()) as stream:
        assert await taken(stream) == [RESYNC]


async def test_news_of_a_person_reach_each_of_his_terminals_and_nobody_else() -> None:
    hub = Hub()
    with hub.stream(person(1)) as one, hub.stream(person(1)) as two, hub.stream(person(2)) as other:
        hub.hear(about(7, principal=1, queue="posts"))
        said = LiveEvent(kind=NewsKind.LEASE_REVOKED, queue="posts", item_id="7")
        assert await taken(one) == await taken(two) == [RESYNC, said]
        assert await taken(other) == [RESYNC]


async def test_a_principal_of_another_tenant_hears_nothing() -> None:
    hub = Hub()
    with hub.stream(person(1, tenant=2)) as stream:
        hub.hear(about(7, principal=1))
        hub.hear(depth_of("posts"))
        assert await taken(stream, APART) == [RESYNC]
        hub.hear(News(kind=NewsKind.RESYNC, tenant_id=1))
        assert await taken(stream, APART) == []
        hub.hear(depth_of("posts", tenant=2))
        assert [event.queue for event in await taken(stream)] == ["posts"]


@pytest.mark.parametrize(
    ("who", "hears"),
    [
        (person(role=Role.REVIEWER, queue="posts"), True),
        (person(role=Role.LEAD, queue="posts"), True),
        (person(role=Role.LEAD), True),
        (person(role=Role.REVIEWER, queue="cases"), False),
        (person(role=Role.PRODUCER), False),
    ],
    ids=["reviewer", "lead", "lead of all", "of another queue", "producer"],
)
async def test_news_of_a_queue_reach_who_works_in_it_or_leads_it(
    who: Identity, hears: bool
) -> None:
    hub = Hub()
    with hub.stream(who) as stream:
        hub.hear(depth_of("posts"))
        said = [LiveEvent(kind=NewsKind.QUEUE_DEPTH, queue="posts")] if hears else []
        assert await taken(stream) == [RESYNC, *said]


async def test_news_that_name_nobody_and_no_queue_reach_nobody() -> None:
    hub = Hub()
    with hub.stream(person(role=Role.LEAD)) as stream:
        hub.hear(about(7))
        assert await taken(stream) == [RESYNC]


async def test_other_rights_are_another_view() -> None:
    hub = Hub()
    with hub.stream(person(queue="posts")) as stream:
        assert await taken(stream) == [RESYNC]
        await asyncio.sleep(APART)
        stream.admit(person(queue="posts"))
        assert await taken(stream) == []
        stream.admit(person(queue="cases"))
        hub.hear(depth_of("posts"))
        hub.hear(depth_of("cases"))
        assert [event.queue for event in await taken(stream)] == [None, "cases"]


async def test_a_slow_reader_gets_a_resync_and_costs_no_memory() -> None:
    hub = Hub()
    with hub.stream(person(1)) as stream:
        assert await taken(stream) == [RESYNC]
        for item in range(1, WAITING_AT_MOST + 1):
            hub.hear(about(item, principal=1))
        assert len(await taken(stream)) == WAITING_AT_MOST
        for item in range(1, 100 * WAITING_AT_MOST):
            hub.hear(about(item, principal=1))
        assert len(stream._waiting) <= WAITING_AT_MOST
        assert RESYNC in await taken(stream, APART)


async def test_a_depth_comes_twice_a_second_at_most_and_the_last_one_always() -> None:
    hub = Hub()
    clock = asyncio.get_running_loop().time
    with hub.stream(person()) as stream:
        assert await taken(stream) == [RESYNC]
        began, came = clock(), []
        while clock() < began + 2.5 * APART:
            hub.hear(depth_of("posts"))
            if await stream.take(0.01) is not None:
                came.append(clock() - began)
        assert len(came) == 3
        assert all(later - earlier > APART * 0.9 for earlier, later in pairwise(came))
        hub.hear(depth_of("cases"))
        assert [event.queue for event in await taken(stream, APART)] == ["cases", "posts"]


async def test_what_concerns_a_lease_does_not_wait_behind_depths() -> None:
    hub = Hub()
    with hub.stream(person(1)) as stream:
        hub.hear(depth_of("posts"))
        assert len(await taken(stream)) == 2
        hub.hear(depth_of("posts"))
        hub.hear(about(7, principal=1))
        first = await stream.take(0)
        assert first is not None
        assert first.item_id == "7"


async def test_a_person_has_so_many_streams_and_no_more() -> None:
    hub = Hub()
    with ExitStack() as stack:
        for _ in range(STREAMS_EACH):
            assert not stack.enter_context(hub.stream(person())).ended
        with pytest.raises(Busy) as refused:
            hub.stream(person())
        assert refused.value.extra["retry_after_ms"] > 0
        with hub.stream(person(2)) as other:
            assert not other.ended
    with hub.stream(person()) as again:
        assert not again.ended
    assert not hub._streams


async def test_those_who_come_at_once_count_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place is taken before anybody listens; who never does has it for a while only."""
    monkeypatch.setattr(hubs, "UNREAD_AT_MOST", 0.2)
    hub = Hub()
    come = [hub.stream(person()) for _ in range(STREAMS_EACH)]
    with pytest.raises(Busy):
        hub.stream(person())
    with come[0] as stream:
        assert not stream.ended
    with hub.stream(person()) as another:
        assert not another.ended
    await asyncio.sleep(0.3)
    with hub.stream(person()) as late:
        assert not late.ended
    assert not hub._streams


async def test_a_stream_that_nobody_reads_gives_up_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hubs, "UNREAD_AT_MOST", 0.05)
    hub = Hub(streams_each=1)
    with hub.stream(person()) as dead:
        await asyncio.sleep(0.1)
        with hub.stream(person()) as live:
            assert dead.ended
            assert not live.ended


async def test_the_end_of_the_server_ends_every_stream_and_every_wait() -> None:
    hub = Hub()
    with hub.stream(person()) as stream:
        assert await taken(stream) == [RESYNC]
        reading = asyncio.create_task(stream.take(60))
        waiting = asyncio.create_task(hub.wait(1, ["posts"], 60))
        await asyncio.sleep(0)
        hub.close()
        async with asyncio.timeout(1):
            assert await reading is None
            assert await waiting
    with hub.stream(person()) as late:
        assert late.ended
    assert await hub.wait(1, ["posts"], 60)


async def test_a_wait_ends_at_a_change_in_one_of_its_queues_alone() -> None:
    hub = Hub()
    waiting = asyncio.create_task(hub.wait(1, ["posts", "cases"], 60))
    await asyncio.sleep(0)
    hub.hear(depth_of("payouts"))
    hub.hear(depth_of("cases", tenant=2))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    hub.hear(depth_of("cases"))
    async with asyncio.timeout(1):
        assert await waiting
    assert not hub._waiters


@pytest.mark.parametrize("news", [RESYNC_ALL, News(kind=NewsKind.RESYNC, tenant_id=1)], ids=str)
async def test_a_wait_ends_at_a_resync(news: News) -> None:
    hub = Hub()
    waiting = asyncio.create_task(hub.wait(1, ["posts"], 60))
    await asyncio.sleep(0)
    hub.hear(News(kind=NewsKind.RESYNC, tenant_id=2))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    hub.hear(news)
    async with asyncio.timeout(1):
        assert await waiting


async def test_a_wait_for_nothing_ends_in_time_and_leaves_nothing() -> None:
    hub = Hub()
    assert not await hub.wait(1, ["posts"], 0.01)
    assert not hub._waiters


def test_news_survive_their_writing() -> None:
    news = [about(item, principal=item) for item in range(1, 1_000)]
    news += [depth_of("posts"), depth_of("cases", tenant=2), RESYNC_ALL]
    messages = written(news)
    assert len(messages) > 1
    assert max(len(message.encode()) for message in messages) <= LONGEST_PAYLOAD
    assert [one for message in messages for one in heard(message)] == news
    assert written([]) == []


@pytest.mark.parametrize(
    "junk",
    [
        "",
        "hello",
        "{}",
        "[1, null, [], {}]",
        "[" * 4_000,
        "[" * 4_000 + "]" * 4_000,
        '[{"kind":"queue_depth"}]',
        '[{"kind":"queue_depth","tenant_id":-1,"queue":"posts"}]',
        '[{"kind":"queue_depth","tenant_id":1,"queue":"Posts\\r\\ndata: x"}]',
        '[{"kind":"queue_depth","tenant_id":1,"queue":"posts\\n"}]',
        '[{"kind":"tomorrow","tenant_id":1}]',
        '[{"kind":"lease_revoked","tenant_id":1,"item_pk":1e99}]',
        '[{"kind":"lease_revoked","tenant_id":1,"item_pk":99999999999999999999999}]',
        '[{"kind":"lease_revoked","tenant_id":1,"principal_id":"1"}]',
        "\ud800",
    ],
    ids=range(15),
)
def test_junk_is_no_news(junk: str) -> None:
    assert list(heard(junk)) == []


def test_news_beside_junk_is_heard() -> None:
    mixed = '[7,{"kind":"tomorrow","tenant_id":1},{"kind":"queue_depth","tenant_id":1,"queue":"a"}]'
    assert list(heard(mixed)) == [depth_of("a")]

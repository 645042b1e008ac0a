"""Everything works behind PgBouncer in transaction mode, where no session is anybody's own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from backend.db import principal as rows
from backend.db.connection import Database, UnfitError
from backend.db.errors import OutcomeUnknownError, UnavailableError
from backend.db.listen import SETTINGS
from backend.db.policy import read_active_policy
from backend.domain.identity import Identity
from backend.services.claim import claim, queue_view
from backend.services.lease import release, renew
from backend.services.policies import shipped_policy
from backend.services.redrive import redrive
from backend.services.submit import submit
from backend.services.verdict import verdict
from shared.vocabulary import NewsKind, ReleaseReason, Role, Verdict
from shared.wire.content import Case
from shared.wire.queue import Lease, ReleaseRequest, RenewRequest
from tests.services.test_hub import person
from tests.support.desk import QUEUE, Desk, new_key, set_up_desk
from tests.support.gateway import key_for, row, standard
from tests.support.live import live_server, next_of, opened, relaying
from tests.support.pooler import Pooler, pooled, sessions_of
from tests.support.postgres import Dsn
from tests.support.trail import assert_every_chain_is_whole

pytestmark = [pytest.mark.slow, pytest.mark.fault]

SESSIONS = 3
REVIEWERS = 8
POSTS = 40


@pytest.fixture
async def pooler(dsn: Dsn) -> AsyncIterator[Pooler]:
    async with pooled(dsn.runtime, sessions=SESSIONS) as running:
        yield running


@pytest.fixture
async def behind(pooler: Pooler, dsn: Dsn) -> AsyncIterator[Database]:
    """A pool of ten connections that share three sessions."""
    url = pooler.url(dsn.runtime)
    async with Database(url, durable=False, true_clock=False, statement_cache=0) as db:
        yield db


@pytest.fixture
async def desk(behind: Database, admin: Any) -> Desk:
    return await set_up_desk(behind, admin, shipped_policy())


async def work(desk: Desk, who: Identity) -> list[int]:
    """Judge until nothing is left; send a good part of all requests twice."""
    said: list[int] = []
    while True:
        key = new_key()
        answer = await claim(desk.db, desk.policy, who, QUEUE, key)
        if answer.lease is None:
            return said
        lease = answer.lease
        again = await claim(desk.db, desk.policy, who, QUEUE, key)
        assert again.lease is not None
        assert again.lease.lease_token == lease.lease_token
        await renew(
            desk.db, desk.policy, who, lease.item_id, RenewRequest(lease_token=lease.lease_token)
        )
        said.append(await judge(desk, who, lease))


async def judge(desk: Desk, who: Identity, lease: Lease) -> int:
    request = desk.saying(lease, random.choice((Verdict.APPROVE, Verdict.REJECT, Verdict.ESCALATE)))
    first = await verdict(desk.db, desk.policy, who, lease.item_id, request)
    again = await verdict(desk.db, desk.policy, who, lease.item_id, request)
    assert again.replayed
    assert again.answer.decision == first.answer.decision
    return int(first.answer.decision.decision_id)


async def test_every_deed_works_where_three_sessions_serve_all(desk: Desk, admin: Any) -> None:
    producer = await desk.person("shop", Role.PRODUCER)
    posts = [row(f"p-{number}", {"violence": 0.8}) for number in range(POSTS)]
    batches = [posts[start::4] for start in range(4)]
    await asyncio.gather(
        *[submit(desk.db, desk.policy, producer, batch) for batch in [*batches, *batches]]
    )
    people = [await desk.person(f"r-{number}") for number in range(REVIEWERS)]
    idler = await desk.person("idler")
    dropped, lapsed = await desk.lease(idler), await desk.person("sleeper")
    request = ReleaseRequest(lease_token=dropped.lease_token, reason=ReleaseReason.TECH)
    await release(desk.db, idler, dropped.item_id, request)
    await desk.lease(lapsed)
    await desk.pass_time(timedelta(hours=1))
    assert (await redrive(desk.db)).given_back == 1
    said = [
        key for keys in await asyncio.gather(*[work(desk, who) for who in people]) for key in keys
    ]
    assert len(set(said)) == len(said) == POSTS
    assert await sessions_of(admin) == SESSIONS
    assert await desk.apply_all() == POSTS
    assert (
        await desk.value("SELECT count(*) FROM applied WHERE decision_id = ANY ($1)", said) == POSTS
    )
    assert await desk.value("SELECT count(*) FROM decision WHERE item_id IS NOT NULL") == POSTS
    await assert_every_chain_is_whole(admin)


async def test_statements_without_a_transaction_meet_no_session_of_others(
    desk: Desk, behind: Database
) -> None:
    tenant = await desk.value("SELECT id FROM tenant")
    people = [await desk.person(f"r-{number}") for number in range(12)]

    async def look(number: int) -> None:
        for turn in range(60):
            async with behind.connection() as conn:
                match (number + turn) % 4:
                    case 0:
                        assert await rows.find_tenant(conn, "default") == tenant
                    case 1:
                        active = await read_active_policy(conn, tenant)
                        assert active is not None
                        assert active.version == desk.policy.version
                    case 2:
                        found = await rows.find_principal(conn, tenant, f"r-{number}")
                        assert found is not None
                        assert found.id == people[number].principal_id
                    case _:
                        assert await rows.find_key(conn, "x" * 12) is None
            view = await queue_view(behind, desk.policy, people[number], QUEUE)
            assert view.queue == QUEUE

    await asyncio.gather(*[look(number) for number in range(12)])


async def test_prepared_statements_behind_a_pooler_are_refused_at_the_start(
    pooler: Pooler, dsn: Dsn
) -> None:
    with pytest.raises(UnfitError, match="FENCEPOST_LISTEN_URL"):
        async with Database(pooler.url(dsn.runtime), durable=False):
            pass
    async with Database(dsn.runtime, durable=False):
        pass


async def test_what_would_be_refused_does_go_wrong(pooler: Pooler, dsn: Dsn) -> None:
    """A statement that was prepared in one session is looked for in another."""
    url = pooler.url(dsn.runtime)
    one, other = await asyncpg.connect(url), await asyncpg.connect(url)
    try:
        assert await one.fetchval("SELECT $1::int", 1) == 1
        async with other.transaction():  # takes the session that was just used
            with pytest.raises(asyncpg.InvalidSQLStatementNameError):
                await one.fetchval("SELECT $1::int", 1)
    finally:
        one.terminate()
        other.terminate()


async def test_a_stream_hears_over_an_address_of_its_own(
    behind: Database, dsn: Dsn, database: Database
) -> None:
    await standard(database)
    producer, lead = await key_for(behind), await key_for(behind, Role.LEAD)
    async with (
        live_server(behind, dsn) as here,
        live_server(behind, dsn) as there,
        opened(there, lead) as stream,
        here.client(producer) as client,
    ):
        await stream.until("resync")
        await client.submit_case("cases", Case(content_id="case-1"))
        async with asyncio.timeout(2):
            await stream.until("cases")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("", "UnavailableError"),
        (f"ignore_startup_parameters = {', '.join(SETTINGS)}", "PooledError"),
    ],
    ids=["strict", "lenient"],
)
async def test_a_line_through_the_pooler_is_said_to_be_none(dsn: Dsn, more: str, why: str) -> None:
    async with pooled(dsn.runtime, more=more) as pooler:
        with capture_logs() as said:
            async with relaying(pooler.url(dsn.runtime)) as (_, hub):
                with hub.stream(person()) as stream:
                    await asyncio.sleep(1)
                    assert (await next_of(stream, NewsKind.RESYNC)).kind is NewsKind.RESYNC
                    assert await stream.take(0) is None
    assert [line["event"] for line in said] == ["live.down"]
    assert said[0]["why"].startswith(why)


async def test_a_pooler_that_dies_is_an_outage_like_any_other(desk: Desk, pooler: Pooler) -> None:
    await desk.item()
    who, key = await desk.person("anna"), new_key()
    await pooler.stop()
    with pytest.raises((UnavailableError, OutcomeUnknownError)):
        await claim(desk.db, desk.policy, who, QUEUE, key)
    await pooler.start()
    granted = (await claim(desk.db, desk.policy, who, QUEUE, key)).lease
    assert granted is not None
    await desk.decide(who, granted)


async def test_a_session_that_is_gone_behind_it_is_an_outage_too(desk: Desk, admin: Any) -> None:
    await desk.item()
    who, key = await desk.person("anna"), new_key()
    await admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE usename = 'fencepost_runtime' AND datname = current_database()"
    )
    for _ in range(5):
        try:
            granted = (await claim(desk.db, desk.policy, who, QUEUE, key)).lease
        except (UnavailableError, OutcomeUnknownError):
            continue
        assert granted is not None
        return
    pytest.fail("it never came back")


async def test_a_pooler_that_loses_patience_is_an_outage_too(dsn: Dsn) -> None:
    async with pooled(dsn.runtime, sessions=1, patience=1) as pooler:
        url = pooler.url(dsn.runtime)
        async with Database(url, durable=False, true_clock=False, statement_cache=0) as db:
            async with db.transaction() as busy:
                assert await rows.find_tenant(busy, "default")
                with pytest.raises((UnavailableError, OutcomeUnknownError)):
                    async with db.transaction() as late:
                        await rows.find_tenant(late, "default")
            async with db.transaction() as again:
                assert await rows.find_tenant(again, "default")


async def test_a_pooler_that_is_full_is_an_outage_too(dsn: Dsn) -> None:
    async with pooled(dsn.runtime, more="max_client_conn = 1") as pooler:
        url = pooler.url(dsn.runtime)
        db = Database(url, durable=False, true_clock=False, statement_cache=0)
        async with db, db.transaction() as only:
            with pytest.raises(UnavailableError):
                async with db.transaction():
                    pass
            assert await rows.find_tenant(only, "default")

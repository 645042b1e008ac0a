"""kill -9 at twenty random moments under load: what a client was told stays true.

The clients keep a log of their own of every acknowledgement, and never change their mind about a
retry: the same submission, claim key or verdict token is sent until an answer comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from shared.client import FencepostClient, Refused
from shared.reasons import Reason, admitted
from shared.vocabulary import ContentState, Outcome
from shared.wire.content import Receipt, Submission
from shared.wire.queue import ClaimRequest, DecisionPart, Lease, VerdictRequest
from tests.support.processes import until
from tests.support.served import Served, home_folder

pytestmark = [pytest.mark.slow, pytest.mark.fault, pytest.mark.timeout(400)]

KILLS = 20
REVIEWERS = 3
SCORES = (0.05, 0.4, 0.6, 0.97)
OUTCOMES = {
    Outcome.ALLOW: ContentState.ALLOWED,
    Outcome.LIMIT: ContentState.LIMITED,
    Outcome.REMOVE: ContentState.REMOVED,
    Outcome.NONE: ContentState.PENDING,
}


class Log(msgspec.Struct):
    """What clients were told, and what they are still owed an answer for."""

    receipts: dict[str, Receipt] = {}
    verdicts: list[DecisionPart] = []
    leases: list[str] = []
    refusals: Counter[str] = Counter()


async def briefly(seconds: float) -> None:
    """Wait less than the client would: the server is back soon."""
    await asyncio.sleep(min(seconds, 0.1))


def stubborn(server: Served, key: str) -> FencepostClient:
    """A client that repeats the same request until it is answered."""
    return FencepostClient(server.address, key, attempts=10_000, sleep=briefly)


async def produce(
    client: FencepostClient, log: Log, stop: asyncio.Event, dice: random.Random
) -> None:
    number = 0
    while not stop.is_set():
        number += 1
        labels = {"hate": dice.choice(SCORES), "offensive": dice.choice(SCORES)}
        post = Submission(
            content_id=f"kill-{number}",
            text=f"post number {number}",
            labels=msgspec.Raw(msgspec.json.encode(labels)),
        )
        log.receipts[post.content_id] = await client.submit(post)


async def review(
    client: FencepostClient, log: Log, stop: asyncio.Event, dice: random.Random
) -> None:
    reasons = (await client.queue("posts")).reasons
    lease: Lease | None = None
    while not stop.is_set():
        if lease is None:
            claimed = await client.claim("posts", ClaimRequest(claim_key=str(uuid.uuid4())))
            lease = claimed.lease
            if lease is None:
                await asyncio.sleep(0.02)
                continue
        log.leases.append(lease.lease_token)
        lease = await decide(client, log, lease, reasons, dice)


async def decide(
    client: FencepostClient,
    log: Log,
    lease: Lease,
    reasons: tuple[Reason, ...],
    dice: random.Random,
) -> Lease | None:
    verdict = dice.choice(list(lease.verdicts))
    request = VerdictRequest(
        lease_token=lease.lease_token,
        verdict_token=str(uuid.uuid4()),
        evidence_hash=lease.evidence_hash,
        verdict=verdict,
        reason=admitted(reasons, verdict, lease.queue)[0].code,
        claim_next=str(uuid.uuid4()) if dice.random() < 0.7 else None,
    )
    try:
        answer = (await client.verdict(lease.item_id, request)).answer
    except Refused as refusal:
        log.refusals[refusal.code] += 1
        return None
    log.verdicts.append(answer.decision)
    return answer.next.lease if answer.next else None


async def kill_and_restart(server: Served, dice: random.Random, turn: int) -> None:
    """Kill the server, every third time with its PostgreSQL; then start it again."""
    await asyncio.sleep(dice.uniform(0.1, 1.2))
    assert server.process is not None
    if turn % 3 == 0:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.postmaster(), signal.SIGKILL)
    server.process.kill()
    await asyncio.to_thread(server.process.wait)
    assert server.process.stdout is not None
    server.process.stdout.close()
    # The database is a child of the thread that starts it, but that is the server's own affair.
    await asyncio.to_thread(server.start)


async def test_nothing_acknowledged_is_lost_and_nothing_is_applied_twice() -> None:
    seed = random.SystemRandom().randrange(2**32)
    print("seed", seed)  # shown when it fails
    dice = random.Random(seed)
    with home_folder() as home:
        server = Served(home, "--policy", policy_of(home))
        server.start()
        try:
            log = await under_load(server, dice)
            print(len(log.receipts), "contents,", len(log.verdicts), "verdicts acknowledged")
            await compare(server, log)
        finally:
            server.stop()
            assert server.process is not None
            assert server.process.stdout is not None
            server.process.stdout.close()


def policy_of(home: Path) -> str:
    """The example, with an undo window that ends while the killing goes on."""
    text = Path("backend/policies/hate-offensive.toml").read_text(encoding="utf-8")
    queue = "[queues.posts]\n"
    assert queue in text
    path = home / "quick.toml"
    changed = text.replace(queue, queue + "undo_window_ms = 300\n", 1)
    path.write_text(changed.replace('version = "hate-offensive-1"', 'version = "quick-1"'))
    return str(path)


async def under_load(server: Served, dice: random.Random) -> Log:
    log, stop = Log(), asyncio.Event()
    keys = [server.key("killed-producer", "producer")]
    keys += [server.key(f"killed-{n}", "reviewer") for n in range(REVIEWERS)]
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(stubborn(server, key)) for key in keys]
        work = [asyncio.create_task(produce(clients[0], log, stop, dice))]
        work += [asyncio.create_task(review(one, log, stop, dice)) for one in clients[1:]]
        for turn in range(KILLS):
            await kill_and_restart(server, dice, turn)
            for task in work:
                if task.done():
                    task.result()
        stop.set()
        await asyncio.wait_for(asyncio.gather(*work), 60)
    return log


async def compare(server: Served, log: Log) -> None:
    """Hold the log against the rows and against what a producer is told."""
    assert len(log.receipts) > KILLS
    assert len(log.verdicts) > KILLS
    assert not log.refusals, "a retry of what was carried out must never be refused"
    connection = await server.sql()
    try:
        await quiet(connection)
        await contents_agree(connection, log)
        await verdicts_agree(connection, log)
        await rows_agree(connection)
    finally:
        await connection.close()
    async with server.client(server.key("reader", "producer")) as producer:
        for content_id in list(log.receipts)[:: max(1, len(log.receipts) // 300)]:
            assert (await producer.decision(content_id)).content_id == content_id


async def quiet(connection: Any) -> None:
    """Wait until no decision waits for its effect."""
    for _ in range(600):
        if not await connection.fetchval("SELECT count(*) FROM pending_apply"):
            return
        await asyncio.sleep(0.1)
    pytest.fail("some decisions never took effect")


async def contents_agree(connection: Any, log: Log) -> None:
    rows = await connection.fetch("SELECT content_id, state FROM content")
    stored = {row["content_id"]: row["state"] for row in rows}
    assert set(log.receipts) <= set(stored), "an acknowledged content is lost"
    assert set(log.receipts) == set(stored), "each was answered in the end"
    decided = {decision.content_id for decision in log.verdicts}
    for content_id, receipt in log.receipts.items():
        if content_id not in decided and receipt.state is not ContentState.PENDING:
            assert stored[content_id] == receipt.state


async def verdicts_agree(connection: Any, log: Log) -> None:
    rows = await connection.fetch(
        "SELECT d.id, c.content_id, d.verdict, d.outcome, a.result, c.state, d.lease_token,"
        " d.id = c.applied_decision AS in_force"
        " FROM decision d JOIN content c ON c.id = d.content_id"
        " LEFT JOIN applied a ON a.decision_id = d.id WHERE d.verdict IS NOT NULL"
    )
    stored = {str(row["id"]): row for row in rows}
    for told in log.verdicts:
        row = stored[told.decision_id]
        assert (row["content_id"], row["verdict"]) == (told.content_id, told.verdict)
        assert row["result"] == "applied"
        if row["in_force"]:
            assert row["state"] == OUTCOMES[told.outcome]
    told_of = [told.decision_id for told in log.verdicts]
    assert sorted(told_of) == sorted(stored), "what is recorded is what was told, each once"
    assert len({row["lease_token"] for row in rows}) == len(rows)


async def rows_agree(connection: Any) -> None:
    """What must hold whatever happened."""
    never = {
        "a decision has no effect": "SELECT count(*) FROM decision d WHERE NOT EXISTS"
        " (SELECT FROM applied a WHERE a.decision_id = d.id)",
        "a message goes out twice": "SELECT count(*) FROM (SELECT FROM outbox"
        " GROUP BY decision_id, kind HAVING count(*) > 1) t",
        "an effect is in the trail twice": "SELECT count(*) FROM (SELECT FROM event"
        " WHERE type = 'decision.applied' GROUP BY content_id,"
        " convert_from(canonical, 'UTF8')::jsonb #>> '{data,decision}' HAVING count(*) > 1) t",
        "a trail has a gap": "SELECT count(*) FROM content c WHERE c.seq <>"
        " (SELECT count(*) FROM event e WHERE e.content_id = c.id)",
        "a trail ends elsewhere": "SELECT count(*) FROM content c WHERE c.chain_head <>"
        " (SELECT hash FROM event e WHERE e.content_id = c.id AND e.seq = c.seq)",
        "a content has two open items": "SELECT count(*) FROM (SELECT FROM item"
        " WHERE state <> 'resolved' GROUP BY content_id HAVING count(*) > 1) t",
        "a content for people has no item": "SELECT count(*) FROM decision d"
        " WHERE d.band = 'REVIEW'"
        " AND NOT EXISTS (SELECT FROM item i WHERE i.content_id = d.content_id)",
    }
    for what, query in never.items():
        assert await connection.fetchval(query) == 0, what


async def test_a_restart_after_a_kill_needs_nobody() -> None:
    with home_folder() as home:
        server = Served(home)
        server.start()
        assert server.process is not None
        first = server.postmaster()
        server.process.kill()
        server.process.wait(60)
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.start()
        assert server.postmaster() != first
        await until(lambda: "Traceback" not in server.log(), "a clean start")
        assert server.stop()[0] == 0
        assert server.process.stdout is not None
        server.process.stdout.close()

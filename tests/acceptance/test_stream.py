"""A stream of posts: all arrive, once; people judge; what they said is what holds."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from shared.client import FencepostClient
from shared.evidence import open_evidence
from shared.reasons import admitted
from shared.vocabulary import ContentState, Verdict
from shared.wire.queue import ClaimRequest, DecisionPart, Lease, VerdictRequest
from tests.support.served import Served, fencepost, served
from tests.support.stream import stream

VERDICTS = 200
STATES = {
    Verdict.APPROVE: ContentState.ALLOWED,
    Verdict.LIMIT: ContentState.LIMITED,
    Verdict.REJECT: ContentState.REMOVED,
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("--policy", "hate-offensive") as running:
        yield running


@pytest.fixture(scope="module")
def sent(server: Served, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What two sendings of the whole file said."""
    file = tmp_path_factory.mktemp("stream") / "stream.jsonl"
    file.write_bytes(stream())
    key = server.key_file("stream", "producer")
    where = ["--drop", "human", "--server", server.address, "--key-file", str(key)]
    done = [fencepost("submit", str(file), *where) for _ in range(2)]
    assert [one.returncode for one in done] == [0, 0], [one.stderr for one in done]
    return [one.stdout for one in done]


def rows() -> list[dict[str, dict[str, float]]]:
    return [json.loads(line) for line in stream().decode().splitlines()]


def expected_bands() -> Counter[str]:
    """An account of its own: not one line of it is shared with the engine."""
    bands: Counter[str] = Counter()
    for row in rows():
        scores = row["labels"].values()
        if any(score > 0.95 for score in scores):
            bands["BLOCK"] += 1
        elif any(score >= 0.20 for score in scores):
            bands["REVIEW"] += 1
        else:
            bands["ALLOW"] += 1
    return bands


async def test_all_are_accepted_and_sending_twice_makes_nothing_new(
    server: Served, sent: list[str]
) -> None:
    count = len(rows())
    assert sent == [
        f"{count:,} rows: {count:,} new, 0 known before, 0 refused\n",
        f"{count:,} rows: 0 new, {count:,} known before, 0 refused\n",
    ]
    connection = await server.sql()
    try:
        assert await connection.fetchval("SELECT count(*) FROM content") == count
        doubles = "SELECT count(*) - count(DISTINCT content_id) FROM item"
        assert await connection.fetchval(doubles) == 0
    finally:
        await connection.close()


async def test_the_bands_are_those_of_an_independent_count(server: Served, sent: list[str]) -> None:
    assert sent
    connection = await server.sql()
    try:
        found = await connection.fetch(
            "SELECT band, count(*) AS n FROM decision WHERE kind = 'automatic' GROUP BY 1"
        )
        queued = await connection.fetchval("SELECT count(*) FROM item WHERE round = 1")
    finally:
        await connection.close()
    assert {row["band"]: row["n"] for row in found} == dict(expected_bands())
    assert queued == expected_bands()["REVIEW"]


async def test_two_hundred_verdicts_hold_once_and_for_everybody(
    server: Served, sent: list[str]
) -> None:
    assert sent
    said: list[DecisionPart] = []
    for number in range(2):
        async with server.client(server.key(f"reviewer-{number}", "reviewer")) as client:
            said += await work(client, VERDICTS // 2)
    assert len({decision.content_id for decision in said}) == VERDICTS
    async with server.client(server.key("reader", "producer")) as producer:
        await applied(server, said)
        for decision in said:
            view = await producer.decision(decision.content_id)
            assert view.decision_id == decision.decision_id
            assert view.verdict == decision.verdict
            assert view.state == STATES[decision.verdict]
            assert view.recorded is None


async def applied(server: Served, said: list[DecisionPart]) -> None:
    """Wait for the effects, and find one applied row for each verdict and no more."""
    connection = await server.sql()
    ids = [int(decision.decision_id) for decision in said]
    done: list[Any] = []
    try:
        for _ in range(600):
            done = await connection.fetch(
                "SELECT decision_id FROM applied WHERE decision_id = ANY ($1::bigint[])", ids
            )
            if len(done) >= len(said):
                break
            await asyncio.sleep(0.1)
        assert sorted(row["decision_id"] for row in done) == sorted(ids)
        assert await connection.fetchval("SELECT count(*) FROM pending_apply") == 0
        twice = (
            "SELECT count(*) FROM (SELECT decision_id, kind FROM outbox"
            " GROUP BY 1, 2 HAVING count(*) > 1) t"
        )
        assert await connection.fetchval(twice) == 0
    finally:
        await connection.close()


async def work(client: FencepostClient, count: int) -> list[DecisionPart]:
    """Judge `count` items, each claimed with the verdict before it."""
    reasons = (await client.queue("posts")).reasons
    lease = (await client.claim("posts", ClaimRequest(claim_key=str(uuid.uuid4())))).lease
    said: list[DecisionPart] = []
    while lease is not None:
        verdict = list(STATES)[len(said) % len(STATES)]
        reason = admitted(reasons, verdict, "posts")[0].code
        request = judge(lease, verdict, reason, is_last=len(said) + 1 == count)
        answer = (await client.verdict(lease.item_id, request)).answer
        said.append(answer.decision)
        lease = answer.next.lease if answer.next else None
    assert len(said) == count
    return said


def judge(lease: Lease, verdict: Verdict, reason: str, *, is_last: bool) -> VerdictRequest:
    evidence = open_evidence(lease.evidence, lease.evidence_hash)
    assert evidence.content.content_id == lease.content_id
    return VerdictRequest(
        lease_token=lease.lease_token,
        verdict_token=str(uuid.uuid4()),
        evidence_hash=lease.evidence_hash,
        verdict=verdict,
        reason=reason,
        claim_next=None if is_last else str(uuid.uuid4()),
    )

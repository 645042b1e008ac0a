"""`fencepost policy` and `fencepost key`: what they say of queues."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from backend.db.bootstrap import RUNTIME
from backend.db.connection import Database
from backend.db.embedded import Server, server
from backend.domain.policy import parse_policy
from backend.services.submit import submit_case
from shared.vocabulary import Role
from tests.support.gateway import case, somebody
from tests.support.office import DELETED, DRAINED, RENAMED
from tests.support.postgres import own_binaries
from tests.support.renaming import STANDARD, deleted, merged, versioned
from tests.support.served import fencepost

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
async def place() -> AsyncIterator[Server]:
    """A server of this module's own, set up as an operator does it."""
    async with server(None, fresh=True, binaries=own_binaries()) as running:
        both = {
            "DATABASE_URL": running.url("it", RUNTIME),
            "FENCEPOST_ADMIN_URL": running.url("it"),
        }
        for step in ("bootstrap", "migrate"):
            done = await asyncio.to_thread(fencepost, step, **both)
            assert done.returncode == 0, done.stderr
        yield running


async def test_activate_says_what_becomes_of_each_queue(place: Server, tmp_path: Path) -> None:
    url = place.url("it", RUNTIME)

    async def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(fencepost, *arguments, DATABASE_URL=url)

    async def activate(text: str) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "policy.toml"
        file.write_text(text, encoding="utf-8")
        return await run("policy", "activate", str(file))

    first = await activate(STANDARD)
    assert first.stdout.splitlines()[1:] == [
        "queue posts is open",
        "queue cases is open",
        "queue escalation is open",
    ]
    async with Database(url) as db:
        producer = await somebody(db, Role.PRODUCER)
        for name in ("c-1", "c-2"):
            await submit_case(db, parse_policy(STANDARD), producer, "cases", case(name))
    refused = await activate(DELETED)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "queue cases is gone from it and holds 2 undecided (2 queued)" in refused.stderr
    assert "draining = true" in refused.stderr
    assert (await activate(RENAMED)).stdout.splitlines() == [
        "version v-2 is in force",
        "queue files is open",
        "queue cases is now files: 2 items moved, grants copied",
    ]
    assert (await activate(RENAMED)).stdout == "version v-2 is in force\n"
    again = await activate(DRAINED)
    assert "version exists with another text; give the changed policy a version" in again.stderr
    with_both = merged(RENAMED, "files", "posts", "v-3")
    assert (await activate(with_both)).stdout.splitlines()[1:] == [
        "queue files went into posts: 2 items moved, grants copied"
    ]
    await activate(versioned(STANDARD, "v-4"))
    assert (await activate(versioned(DRAINED, "v-5"))).stdout.splitlines()[1:] == [
        "queue cases drains: nothing new comes in",
        "no queue names kyc, payout, llm_answer, case any more: to posts, routes.default",
    ]
    nobody = await run("key", "create", "--name", "x", "--role", "lead", "--queue", "nope")
    assert nobody.returncode == 1
    assert "no such queue; it has cases, escalation, posts" in nobody.stderr
    assert nobody.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (RENAMED, "queue files takes the place of cases: undecided items and grants go there"),
        (DRAINED, "queue cases drains: nothing new comes in, what is there is worked off"),
        (deleted(STANDARD, "cases", "v-2"), None),
    ],
    ids=["renamed", "drained", "gone"],
)
def test_check_says_what_a_policy_would_do(tmp_path: Path, text: str, says: str | None) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text, encoding="utf-8")
    done = fencepost("policy", "check", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ([] if says is None else [says])

"""`fencepost serve` behind PgBouncer: set up directly, served through it, heard past it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator

import pytest

from backend.db.bootstrap import RUNTIME
from backend.db.embedded import Server, server
from shared.client import FencepostClient
from shared.vocabulary import NewsKind
from shared.wire.content import Case
from tests.support.pooler import pooled
from tests.support.postgres import own_binaries
from tests.support.processes import ROOT
from tests.support.served import command, environment, fencepost

pytestmark = [pytest.mark.slow, pytest.mark.fault]


@pytest.fixture
async def elsewhere() -> AsyncIterator[Server]:
    """A server whose commits survive a crash, which is what `serve` asks for."""
    async with server(None, fresh=True, binaries=own_binaries()) as running:
        yield running


async def serving(**addresses: str) -> tuple[subprocess.Popen[str], str]:
    child = subprocess.Popen(
        command("serve", "--port", "0"),
        cwd=ROOT,
        env=environment(**addresses),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    said = await asyncio.to_thread(child.stdout.readline)
    assert "ready at" in said
    return child, said.split()[4]


async def test_two_servers_behind_a_pooler_hear_each_other(elsewhere: Server) -> None:
    direct, admin = elsewhere.url("fencepost", RUNTIME), elsewhere.url("fencepost")
    both = {"DATABASE_URL": direct, "FENCEPOST_ADMIN_URL": admin}
    for step in ("bootstrap", "migrate"):
        done = await asyncio.to_thread(fencepost, step, **both)
        assert done.returncode == 0, done.stderr
    async with pooled(direct) as pooler:
        addresses = {"DATABASE_URL": pooler.url(direct), "FENCEPOST_LISTEN_URL": direct}
        processes = []
        try:
            for _ in range(2):
                processes.append(await serving(**addresses))  # noqa: PERF401 - each is to be ended
            await told_across([address for _, address in processes], addresses)
            for child, _ in processes:
                child.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(child.wait, 10) == os.EX_OK
        finally:
            for child, _ in processes:
                child.kill()
                child.communicate()


async def told_across(servers: list[str], addresses: dict[str, str]) -> None:
    keys = []
    for role in ("producer", "lead"):
        made = ("key", "create", "--name", role, "--role", role)
        done = await asyncio.to_thread(fencepost, *made, **addresses)
        assert done.returncode == 0, done.stderr
        keys.append(done.stdout.strip())
    here, there = FencepostClient(servers[0], keys[0]), FencepostClient(servers[1], keys[1])
    async with here, there, asyncio.timeout(20):
        sent = False
        async for event in there.live():
            if event.kind is NewsKind.QUEUE_DEPTH and event.queue == "cases":
                break
            if not sent:
                sent = True
                await here.submit_case("cases", Case(content_id="case-1"))

"""`DATABASE_URL`: a PostgreSQL that somebody else runs."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator

import pytest

from backend.db.bootstrap import RUNTIME
from backend.db.embedded import Server, server
from tests.support.postgres import own_binaries
from tests.support.processes import ROOT
from tests.support.served import command, environment, fencepost

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
async def elsewhere() -> AsyncIterator[Server]:
    """A server that is not the command line's own."""
    async with server(None, fresh=True, binaries=own_binaries()) as running:
        yield running


async def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(fencepost, *arguments, **changes)


async def first_line(**changes: str) -> str:
    """Start `serve`, return what it says, and stop it."""
    process = await asyncio.create_subprocess_exec(
        *command("serve", "--port", "0"),
        cwd=ROOT,
        env=environment(**changes),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), 90)
    if process.returncode is None and line:
        process.terminate()
    _, complaint = await asyncio.wait_for(process.communicate(), 90)
    return line.decode() or complaint.decode()


async def test_an_empty_one_is_set_up_with_an_administrators_address(elsewhere: Server) -> None:
    url, admin = elsewhere.url("first", RUNTIME), elsewhere.url("first")
    said = await first_line(DATABASE_URL=url, FENCEPOST_ADMIN_URL=admin)
    assert "ready at" in said
    assert "ready at" in await first_line(DATABASE_URL=url), "the administrator is needed once"
    done = await run("key", "create", "--name", "x", "--role", "lead", DATABASE_URL=url)
    assert done.returncode == 0, done.stderr


async def test_an_empty_one_is_refused_without(elsewhere: Server) -> None:
    said = await first_line(DATABASE_URL=elsewhere.url("second", RUNTIME))
    assert said.startswith("fencepost: ")
    assert "FENCEPOST_ADMIN_URL" in said


async def test_the_operators_way_is_bootstrap_migrate_serve(elsewhere: Server) -> None:
    url, admin = elsewhere.url("third", RUNTIME), elsewhere.url("third")
    both = {"DATABASE_URL": url, "FENCEPOST_ADMIN_URL": admin}
    assert (await run("bootstrap", **both)).returncode == 0
    before = await run("migrate", "--status", **both)
    assert before.returncode == 1
    assert "missing" in before.stdout
    assert "run `fencepost migrate`" in await first_line(DATABASE_URL=url)
    assert (await run("migrate", **both)).returncode == 0
    assert (await run("migrate", "--status", **both)).returncode == 0
    assert "ready at" in await first_line(DATABASE_URL=url)


@pytest.mark.parametrize("name", ["bootstrap", "migrate"])
async def test_an_administrators_address_is_asked_for(elsewhere: Server, name: str) -> None:
    done = await run(name, DATABASE_URL=elsewhere.url("fourth", RUNTIME))
    assert done.returncode == 2
    assert "FENCEPOST_ADMIN_URL" in done.stderr
    assert done.stderr.count("\n") == 1

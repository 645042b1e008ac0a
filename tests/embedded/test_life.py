"""An embedded server lives as long as its owner, and survives being killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import pytest

from backend.db import cluster
from backend.db.account import EmbeddedError, server_account
from backend.db.embedded import Server, server
from backend.db.folder import InUseError, temporary
from backend.db.leftover import running_server
from tests.support.postgres import own_binaries
from tests.support.processes import is_alive, owner, until

Start = Callable[..., Awaitable[Server]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Start servers that end with the test."""
    async with AsyncExitStack() as stack:

        async def begin(folder: Path | None, *, fresh: bool = False, share: bool = False) -> Server:
            options = {"fresh": fresh, "share": share, "durable": False}
            return await stack.enter_async_context(
                server(folder, binaries=own_binaries(), **options)
            )

        yield begin


async def ask(url: str, query: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_rows_are_there_after_a_restart(open_folder: Path) -> None:
    async with server(open_folder / "data", binaries=own_binaries()) as running:
        await ask(running.url(), "CREATE TABLE kept AS SELECT 42 AS n")
    async with server(open_folder / "data", binaries=own_binaries()) as running:
        assert await ask(running.url(), "SELECT n FROM kept") == 42


async def test_the_server_ends_when_its_owner_is_killed(open_folder: Path) -> None:
    with owner(open_folder / "data") as child:
        child.process.kill()
        await until(lambda: not is_alive(child.server_pid), "the server ended with its owner")


async def test_a_killed_owner_loses_no_row(open_folder: Path, start: Start) -> None:
    with owner(open_folder / "data") as child:
        await ask(child.url, "CREATE TABLE kept AS SELECT 42 AS n")
        child.process.kill()
        child.process.wait()
        running = await start(open_folder / "data")
    assert await ask(running.url(), "SELECT n FROM kept") == 42


async def test_a_leftover_server_is_ended_before_ours_starts(
    open_folder: Path, start: Start
) -> None:
    folder = open_folder / "data"
    async with server(folder, binaries=own_binaries(), durable=False) as first:
        program, data = first.binaries.program("postgres"), str(folder / "pg")
    # What is left on a system that does not end children with their parent.
    leftover = subprocess.Popen(
        [program, "-D", data],
        cwd="/",
        stderr=subprocess.DEVNULL,
        env=cluster.clean_environment(),
        **cluster.identity(server_account()),
    )
    await until(lambda: running_server(folder / "pg") == leftover.pid, "the leftover runs")
    running = await start(folder)
    leftover.wait()
    assert running.pid not in (None, leftover.pid)


async def test_a_killed_server_is_started_again_with_its_rows(start: Start) -> None:
    running = await start(None, fresh=True)
    await ask(running.url(), "CREATE TABLE kept AS SELECT 42 AS n")
    watching = asyncio.create_task(running.watch())
    killed = running.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    await until(lambda: running.pid != killed, "it was started again")
    answer = None
    while answer is None:
        with contextlib.suppress(OSError, asyncpg.PostgresError):
            answer = await ask(running.url(), "SELECT n FROM kept")
        await asyncio.sleep(0.05)
    watching.cancel()
    await asyncio.wait([watching])
    assert answer == 42


async def test_a_server_that_is_killed_while_it_starts_is_started_once_more(start: Start) -> None:
    running = await start(None, fresh=True)
    watching = asyncio.create_task(running.watch())
    for _ in range(2):
        await _kill(running)
    answer = None
    while answer is None and not watching.done():
        with contextlib.suppress(OSError, asyncpg.PostgresError):
            answer = await ask(running.url(), "SELECT 42")
        await asyncio.sleep(0.05)
    watching.cancel()
    await asyncio.wait([watching])
    assert answer == 42


async def _kill(running: Server) -> None:
    """Kill it and wait until the next one is begun, which takes a while to start."""
    killed = running.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    await until(lambda: running.pid != killed, "it was started again")


@pytest.mark.slow
async def test_a_server_that_does_not_stay_up_is_given_up(start: Start) -> None:
    running = await start(None, fresh=True)
    watching = asyncio.create_task(running.watch())
    killed: set[int] = set()
    give_up = time.monotonic() + 60
    while not watching.done() and time.monotonic() < give_up:
        if running.pid and running.pid not in killed:
            killed.add(running.pid)
            os.kill(running.pid, signal.SIGKILL)
        await asyncio.sleep(0.02)
    with pytest.raises(EmbeddedError, match="does not"):
        await watching


async def test_two_never_start_the_same_folder(open_folder: Path, start: Start) -> None:
    await start(open_folder / "data")
    with pytest.raises(InUseError, match=f"process {os.getpid()}"):
        await start(open_folder / "data")


async def test_a_second_process_may_join_and_stops_nothing(open_folder: Path, start: Start) -> None:
    first = await start(open_folder / "data")
    async with server(open_folder / "data", share=True) as joined:
        assert joined.pid is None
        assert await ask(joined.url(), "SELECT 42") == 42
    assert await ask(first.url(), "SELECT 42") == 42


async def test_a_fresh_folder_is_removed_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        async with server(None, fresh=True, durable=False, binaries=own_binaries()) as running:
            folder, pid = running.folder, running.pid
            raise ZeroDivisionError
    assert pid is not None
    assert not folder.exists()
    assert not is_alive(pid)


async def test_a_cancelled_owner_stops_its_server() -> None:
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def own() -> None:
        async with server(None, fresh=True, durable=False, binaries=own_binaries()) as running:
            started.set_result(running.pid or 0)
            await asyncio.Event().wait()

    task = asyncio.create_task(own())
    pid = await started
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(pid)


async def test_what_a_killed_owner_left_in_the_temporary_folder_is_removed() -> None:
    with owner(None) as child:
        child.process.kill()
        child.process.wait()
        await until(lambda: not is_alive(child.server_pid), "the server ended with its owner")
    assert child.folder.exists()
    long_ago = time.time() - 3600
    os.utime(child.folder / "lock", (long_ago, long_ago))
    temporary(None).rmdir()
    assert not child.folder.exists()


async def test_the_folder_of_a_living_owner_is_left_alone() -> None:
    with owner(None) as child:
        long_ago = time.time() - 3600
        os.utime(child.folder / "lock", (long_ago, long_ago))
        temporary(None).rmdir()
        assert await ask(child.url, "SELECT 42") == 42

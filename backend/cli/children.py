"""The server of a demo as a child process: started, heard, and ended whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NoReturn

from backend.cli.failure import Failure
from backend.db.embedded import to_the_end

_READY = re.compile(rb"ready at (http://\S+)")
_START_WITHIN = 60.0
_STOP_WITHIN = 5.0


class ServerChild:
    """A running `fencepost serve`, and the address at which it answers."""

    def __init__(self, process: asyncio.subprocess.Process, address: str, log: Path) -> None:
        self.process = process
        self.address = address
        self._log = log

    async def watch(self) -> NoReturn:
        """Wait until the server ends, which it should not. Raises Failure with its last words."""
        code = await self.process.wait()
        raise Failure(f"the demo's server ended (exit code {code}): {last_words(self._log)}")


@contextlib.asynccontextmanager
async def server_child(database: str, log: Path, *extra: str) -> AsyncIterator[ServerChild]:
    """Run `fencepost serve` on a free loopback port, its messages in the file `log`.

    It ends with us even if we are killed: its standard input is ours to hold open.
    """
    arguments = ["--host", "127.0.0.1", "--port", "0", "--database", database, "--with-parent"]
    with log.open("wb") as messages:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "backend", "serve", *arguments, *extra),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=messages,
            start_new_session=True,  # Ctrl-C in the terminal is for us alone
        )
    try:
        yield ServerChild(process, await _address(process, log), log)
    finally:
        await end(process)


async def end(process: asyncio.subprocess.Process) -> None:
    """End a child: politely, then for certain, even if we are cancelled meanwhile."""
    await to_the_end(_end(process))


def last_words(log: Path, lines: int = 2) -> str:
    """Return the end of a log, in one line."""
    try:
        text = log.read_bytes()[-4096:].decode("utf-8", "replace")
    except OSError:
        return ""
    return "; ".join(line.strip() for line in text.splitlines()[-lines:])


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), _STOP_WITHIN)
        return
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def _address(process: asyncio.subprocess.Process, log: Path) -> str:
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), _START_WITHIN)
    except TimeoutError:
        raise Failure(f"the demo's server does not answer: {last_words(log)}") from None
    found = _READY.search(line)
    if found is None:
        raise Failure(f"the demo's server did not start: {last_words(log)}")
    return found[1].decode()

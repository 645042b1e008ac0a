"""Processes that tests start, kill and ask after."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE = 60.0  # seconds; the machine may be busy


def is_alive(pid: int) -> bool:
    """Whether a process is there and not a zombie that waits to be buried."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds; fail with its name after a minute."""
    give_up = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < give_up, f"after {_PATIENCE:.0f} s still not so: {what}"
        await asyncio.sleep(0.05)


class Owner:
    """A process of its own that runs an embedded server: see `own_server.py`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, "the owner ended without a server"
        said: dict[str, Any] = json.loads(line)
        self.server_pid: int = said["pid"]
        self.url: str = said["url"]
        self.folder = Path(said["folder"])


@contextlib.contextmanager
def owner(folder: Path | None, **options: Any) -> Iterator[Owner]:
    """Run `own_server.py` on a folder (None: a fresh one); kill what is left of it at the end."""
    command = [sys.executable, "-m", "tests.support.own_server", str(folder or "")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, **options) as child:
        try:
            yield Owner(child)
        finally:
            if child.poll() is None:
                child.kill()


def mode(path: Path) -> int:
    """The permission bits of a file or folder."""
    return path.stat().st_mode & 0o7777

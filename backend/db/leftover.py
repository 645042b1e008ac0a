"""A server that outlived the process that had started it: find it and end it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from backend.db.account import EmbeddedError

_PATIENCE = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))  # fast, then immediate shutdown


def stop_leftover(data: Path) -> bool:
    """End the server that still runs on `data`, if there is one. Call it with the folder locked.

    Blocks for up to 40 seconds. Raises EmbeddedError if the server will not end.
    """
    pid = running_server(data)
    if pid is None:
        return False
    for how, seconds in _PATIENCE:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if running_server(data) != pid:
                return True
            time.sleep(0.05)  # noqa: TID251 - runs in a thread of its own
    raise EmbeddedError(f"the server of {data} (process {pid}) does not end")


def running_server(data: Path) -> int | None:
    """Return the process id of the live server of `data`, judged by more than its pid file.

    The number in a pid file may belong to another process by now, so that process must also have
    the owner of the data and name the folder on its command line.
    """
    try:
        pid = int((data / "postmaster.pid").read_text(encoding="ascii").split("\n", 1)[0])
        owner = data.stat().st_uid
    except (OSError, ValueError):
        return None
    process = Path("/proc") / str(pid)
    if not Path("/proc/self").exists():
        return pid if str(data) in _command_line_by_ps(pid) else None
    try:
        arguments = (process / "cmdline").read_bytes().split(b"\0")
        is_its_owner = process.stat().st_uid == owner
    except OSError:
        return None
    return pid if is_its_owner and os.fsencode(data) in arguments else None


def socket_folder_of(data: Path) -> Path | None:
    """Return the socket folder of the live server of `data`."""
    if running_server(data) is None:
        return None
    lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    return Path(lines[4]) if len(lines) > 4 and lines[4] else None  # noqa: PLR2004 - its fifth line


def _command_line_by_ps(pid: int) -> str:
    command = ["ps", "-o", "command=", "-p", str(pid)]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout  # noqa: S603 - a number

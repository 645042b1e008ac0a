"""The name of a running terminal, by which the server tells two of one person's apart.

A name is the host and a short id. The id is kept in a file that is locked while its terminal runs:
a start on the same machine gets the same name again, a second one beside it gets another. The lock
is the kernel's, so that a killed terminal leaves nothing to clean up.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

_OWNER_ONLY = 0o600
_SEATS = 64
_ID = re.compile(r"[0-9a-f]{6}")
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST_HOST = 40


@dataclass(frozen=True, slots=True)
class Seat:
    """A name, and the lock that keeps it; None where it could not be kept for the next start."""

    name: str
    handle: int | None = None

    def leave(self) -> None:
        """Let the next start have the name; the end of the process does so too."""
        if self.handle is not None:
            os.close(self.handle)


def take_seat(folder: Path, host: str) -> Seat:
    """Return the first name of this machine that no other terminal bears.

    Where locks don't work, the name is new at each start: that asks once too often, never once too
    seldom. Raises OSError if the folder can't be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    short = _NOT_A_NAME.sub("-", host.split(".", maxsplit=1)[0])[:_LONGEST_HOST]
    base = short.strip(".-") or "terminal"
    for number in range(1, _SEATS + 1):
        handle = os.open(
            folder / f"terminal-{number}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, _OWNER_ONLY
        )
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            continue
        except OSError:
            os.close(handle)
            break
        return Seat(f"{base}-{_kept_id(handle)}", handle)
    return Seat(f"{base}-{secrets.token_hex(3)}")


def seated(folder: Path, name: str) -> bool:
    """Tell whether the terminal of this name was started on this folder: it reads the same files.

    Raises OSError if the folder can't be read.
    """
    short = name.rpartition("-")[2].encode()
    return bool(short) and any(path.read_bytes() == short for path in folder.glob("terminal-*"))


def _kept_id(handle: int) -> str:
    """Return the id in the file; write one where there is none that can be read."""
    kept = os.pread(handle, 64, 0).decode("ascii", "replace")
    if _ID.fullmatch(kept):
        return kept
    fresh = secrets.token_hex(3)
    os.ftruncate(handle, 0)
    os.pwrite(handle, fresh.encode(), 0)
    os.fsync(handle)
    return fresh

"""Where an interrupted submission stands, so that the same command continues it.

Kept for each pair of file and server, written after each acknowledged batch, removed at the end.
Losing it costs nothing but time: what was sent before is known to the server.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

import msgspec
import platformdirs


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a file was acknowledged: bytes, lines, and what became of the rows so far.

    `tail` is the SHA-256 of the last bytes before `offset`, `modified` the file's own time in
    nanoseconds: a file that was changed does not match them. It may have been corrected anywhere.
    """

    offset: int = 0
    lines: int = 0
    tail: str = ""
    tail_length: int = 0
    modified: int = 0
    created: int = 0
    known: int = 0
    refused: int = 0


class StateFile:
    """The remembered progress of one file into one server, without the fields in `drop`.

    A folder that can't be written to is no error: an interrupted submission then begins anew.
    """

    def __init__(
        self, source: Path, server: str, folder: Path | None = None, drop: Collection[str] = ()
    ) -> None:
        what = "\0".join((server, str(source.resolve()), *sorted(drop)))
        name = hashlib.sha256(os.fsencode(what)).hexdigest()[:32]
        self._modified = source.stat().st_mtime_ns
        home = folder or Path(platformdirs.user_state_dir("fencepost")) / "submit"
        self.path = home / f"{name}.json"

    def load(self, source: BinaryIO) -> Progress:
        """Return where to go on in `source`, and place it there; the beginning if in doubt."""
        try:
            state = msgspec.json.decode(self.path.read_bytes(), type=Progress)
        except (OSError, msgspec.DecodeError):
            return Progress()
        if state.modified != os.fstat(source.fileno()).st_mtime_ns:
            return Progress()
        source.seek(max(0, state.offset - state.tail_length))
        if tail_hash(source.read(state.tail_length)) != state.tail:
            source.seek(0)
            return Progress()
        return state

    def save(self, state: Progress) -> bool:
        """Replace the state in one step; tell whether that was possible."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=self.path.parent, prefix=".draft-")
            with os.fdopen(handle, "wb") as file:
                state = msgspec.structs.replace(state, modified=self._modified)
                file.write(msgspec.json.encode(state))
            Path(draft).replace(self.path)
        except OSError:
            return False
        return True

    def clear(self) -> None:
        """Forget: the file is done."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def tail_hash(data: bytes) -> str:
    """Return what `Progress.tail` holds for the last bytes read."""
    return hashlib.sha256(data).hexdigest()

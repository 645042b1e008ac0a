"""Attachments of the item in hand, saved to be opened with a program of one's own, and taken away.

They are content: files of the owner alone, in a folder of this terminal, removed when the item
goes, when the session ends, and at the next start after a crash.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

_OWNER_ONLY = 0o600
_SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF8", "gif"),
    (b"%PDF-", "pdf"),
)
_RIFF, _WEBP = b"RIFF", b"WEBP"


def home_words(path: Path) -> str:
    """Return a path as people write it, with `~` for where they are at home."""
    try:
        home = Path.home()
        return f"~/{path.relative_to(home)}" if home != Path("/") else str(path)
    except (RuntimeError, ValueError):  # there is no home, or it lies elsewhere
        return str(path)


class NotProvenError(Exception):
    """What arrived is not what its digest says."""


class Shelf:
    """One terminal's folder for attachments; it exists only while something is in it."""

    def __init__(self, folder: Path, terminal: str | None) -> None:
        self.folder = folder / f"attachments-{terminal or 'here'}"

    def save(self, digest: str, data: bytes) -> Path:
        """Write an attachment down, once it is proven. Raises NotProvenError or OSError."""
        if hashlib.sha256(data).hexdigest() != digest:
            raise NotProvenError
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / f"{digest[:16]}.{_ending(data)}"
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _OWNER_ONLY)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        return path

    def clear(self) -> None:
        """Take everything away. Raises OSError."""
        if self.folder.is_symlink():
            self.folder.unlink()
        elif self.folder.exists():
            shutil.rmtree(self.folder)


def _ending(data: bytes) -> str:
    """Return the ending of a file's name by how it begins; the types are few and fixed."""
    if data[:4] == _RIFF and data[8:12] == _WEBP:
        return "webp"
    return next((ending for sign, ending in _SIGNS if data.startswith(sign)), "txt")

"""What must survive a crash of the terminal: the verdict on its way, and what is being typed.

Both are files of the owner alone, written whole before they matter and synced to disk, and they
hold no word of the content. There is at most one of each for a server and key.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TypeVar

import msgspec

from tui.state.pending import Draft, Pending

T = TypeVar("T")
_OWNER_ONLY = 0o600


class Journal:
    """The two files for one server and key; `folder` is made, for the owner alone, if missing.

    A file that can't be read is set aside under another name and reported by `damaged`, never
    silently dropped. Raises OSError where the disk refuses.
    """

    def __init__(self, folder: Path, server: str, key: str) -> None:
        identity = hashlib.sha256(f"{server}\n{_key_id(key)}".encode()).hexdigest()[:16]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self._pending = folder / f"verdict-{identity}.json"
        self._draft = folder / f"note-{identity}.json"
        self.damaged: Path | None = None

    def keep_verdict(self, pending: Pending) -> None:
        """Write the verdict down before its first byte leaves."""
        _write(self._pending, msgspec.json.encode(pending))

    def verdict(self) -> Pending | None:
        """Return the verdict that an earlier run could not finish, if any."""
        return self._read(self._pending, Pending)

    def drop_verdict(self, verdict_token: str) -> None:
        """Forget the verdict, if it is still this one."""
        kept = self.verdict()
        if kept is not None and kept.request.verdict_token == verdict_token:
            _remove(self._pending)

    def keep_note(self, draft: Draft) -> None:
        """Write down what was typed of an item; nothing at all is forgotten."""
        if draft.note or draft.question:
            _write(self._draft, msgspec.json.encode(draft))
        else:
            _remove(self._draft)

    def note(self, item_id: str) -> str:
        """Return the note kept for this item, or nothing."""
        draft = self.draft(item_id)
        return draft.note if draft is not None else ""

    def draft(self, item_id: str) -> Draft | None:
        """Return what was typed of this item and not sent, if anything."""
        draft = self._read(self._draft, Draft)
        return draft if draft is not None and draft.item_id == item_id else None

    def drop_note(self) -> None:
        """Forget the note."""
        _remove(self._draft)

    def _read(self, path: Path, kind: type[T]) -> T | None:
        try:
            return msgspec.json.decode(path.read_bytes(), type=kind)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError:
            self.damaged = path.with_suffix(".damaged")
            path.replace(self.damaged)
            return None


def _key_id(key: str) -> str:
    """Return the public half of a key; a key of another shape is not used at all."""
    parts = key.split("_")
    return "_".join(parts[:3]) if len(parts) > 3 else ""  # noqa: PLR2004  (fp, env, id, secret)


def _write(path: Path, data: bytes) -> None:
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _OWNER_ONLY)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    _sync_folder(path.parent)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

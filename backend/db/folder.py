"""The folder of an embedded database: where it is, who owns it, who may use it now.

    DIR            owned by the server's account
      lock         held by the one process that may start the server
      pg           the data of PostgreSQL
      run          the socket, mode 0700 (in a short temporary folder if the path is too long)
      postgres.log

No mode of a folder that exists is ever changed. When root prepares a folder for another account,
nothing in it is written through a link, for that account could have planted one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

import platformdirs

from backend.db.account import Account, EmbeddedError, blocking_parent
from backend.db.binaries import SYSTEM_FOLDER
from backend.db.leftover import stop_leftover

_PREFIX = "fencepost-"
_LONGEST_LOG = 10 * 1024 * 1024
_SETTLED = 60.0  # seconds; a younger folder may not have its lock taken yet
_LONGEST_SOCKET_FOLDER = 80  # sun_path holds 104 bytes on the smallest platform; the file takes 14


class InUseError(EmbeddedError):
    """Another process serves this folder."""


def default_folder(account: Account | None) -> Path:
    """Return where the data lives when nobody says otherwise."""
    return SYSTEM_FOLDER / "data" if account else platformdirs.user_data_path("fencepost")


def prepare(folder: Path, account: Account | None) -> None:
    """Make the folder, or check that it is ours to use.

    Raises EmbeddedError with the reason when the account can't reach it or something else is in it.
    """
    if not str(folder).isprintable():
        raise EmbeddedError(f"{str(folder)!r} holds a sign that can't be printed: choose another")
    if account:
        _refuse_out_of_reach(folder, account)
    owner = account.uid if account else os.geteuid()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if account:
            _refuse_out_of_reach(folder, account)  # our umask may have closed the new parents
        folder.mkdir(mode=0o700, exist_ok=True)
        is_empty = not any(folder.iterdir())
        is_ours = (folder / "pg").exists() or (folder / "lock").exists()
        if account and is_empty:
            os.chown(folder, account.uid, account.gid)
    except OSError as error:
        raise EmbeddedError(f"{folder} can't be used for data: {error.strerror}") from error
    if folder.stat().st_uid != owner:
        name = account.name if account else "you"
        raise EmbeddedError(f"{folder} must belong to {name}: choose another folder")
    if not is_empty and not is_ours:
        raise EmbeddedError(f"{folder} holds something else: choose an empty or a new folder")


def temporary(account: Account | None) -> Path:
    """Make a fresh folder that the account can reach, and remove what killed runs left behind."""
    for place in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):  # noqa: S108 - mkdtemp
        base = Path(place).resolve()
        if not base.is_dir() or not os.access(base, os.W_OK):
            continue
        if account and blocking_parent(base / "x", account):
            continue
        _sweep(base)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        if account:
            os.chown(folder, account.uid, account.gid)
        return folder
    raise EmbeddedError("there is no temporary folder that the server's account can reach")


def socket_folder(folder: Path, account: Account | None) -> Path:
    """Return a 0700 folder for the socket, whose path is short enough for one."""
    wanted = folder / "run"
    if len(os.fsencode(wanted)) > _LONGEST_SOCKET_FOLDER:
        return temporary(account)
    with contextlib.suppress(FileExistsError):
        wanted.mkdir(mode=0o700)
        if account:
            os.chown(wanted, account.uid, account.gid, follow_symlinks=False)
    found = wanted.lstat()
    if not stat.S_ISDIR(found.st_mode) or stat.S_IMODE(found.st_mode) & 0o077:
        raise EmbeddedError(f"{wanted} must be a folder of mode 0700")
    return wanted


class Lock:
    """The right to start the server of one folder; it ends with the process that holds it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._file: int | None = None

    def take(self) -> None:
        """Take the lock. Raises InUseError while another process holds it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(file, 20).decode("ascii", "replace").strip()
            os.close(file)
            raise InUseError(f"{self._path.parent} is served by process {holder or '?'}") from error
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode("ascii"), 0)
        self._file = file

    def release(self) -> None:
        """Give the lock back; harmless when it was not taken."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def open_log(folder: Path) -> int:
    """Open the server's log for appending; one that has grown past 10 MB is set aside first."""
    path = folder / "postgres.log"
    with contextlib.suppress(FileNotFoundError):
        if path.lstat().st_size > _LONGEST_LOG:
            path.replace(path.with_suffix(".log.1"))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def _refuse_out_of_reach(folder: Path, account: Account) -> None:
    blocked = blocking_parent(folder, account)
    if blocked:
        mode = stat.S_IMODE(blocked.stat().st_mode)
        raise EmbeddedError(
            f"{account.name}, who runs the database for root, can't reach {folder}: {blocked} has"
            f" mode {mode:04o}, and it stays so. Choose a folder elsewhere, such as one below /srv"
        )


def _sweep(base: Path) -> None:
    """Remove temporary folders whose process is gone without having removed them."""
    for left in base.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, InUseError):
            found = (left / "lock").lstat()
            if found.st_uid != os.geteuid() or time.time() - found.st_mtime < _SETTLED:
                continue
            lock = Lock(left)
            lock.take()
            stop_leftover(left / "pg")
            shutil.rmtree(left, ignore_errors=True)
            lock.release()

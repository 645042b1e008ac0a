"""As whom the embedded server runs, and what that account can reach."""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

import msgspec

ACCOUNTS = ("fencepost", "nobody")  # for root: the first that exists


class EmbeddedError(Exception):
    """The embedded database can't be had; the message says why and what would help."""


class Account(msgspec.Struct, frozen=True):
    """The account that owns the server process and its files."""

    name: str
    uid: int
    gid: int


def server_account() -> Account | None:
    """Choose who runs the server: None stands for ourselves, when we are not root.

    Raises EmbeddedError if we have no name (initdb would refuse) or root finds no account.
    """
    if os.geteuid() != 0:
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError as error:
            raise EmbeddedError(
                f"user id {os.geteuid()} has no passwd entry, which PostgreSQL needs:"
                " add one, or set DATABASE_URL"
            ) from error
        return None
    for name in ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedError(
        "root needs an unprivileged account, `fencepost` or `nobody`, for the server"
    )


def blocking_parent(path: Path, account: Account) -> Path | None:
    """Return the first parent that the account can't pass through, judged by owner and mode."""
    for parent in reversed(path.absolute().parents):
        if not parent.exists():
            return None
        found = parent.stat()
        if found.st_uid == account.uid:
            may_pass = found.st_mode & stat.S_IXUSR
        elif found.st_gid == account.gid:
            may_pass = found.st_mode & stat.S_IXGRP
        else:
            may_pass = found.st_mode & stat.S_IXOTH
        if not may_pass:
            return parent
    return None

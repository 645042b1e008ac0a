"""The files of an embedded database: initdb, once, and our settings, at each start.

Everything in the data folder is written by the account that owns it, never by root.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
from pathlib import Path
from typing import Any

from backend.db.account import Account, EmbeddedError
from backend.db.binaries import Binaries

SUPERUSER = "postgres"
_UNFINISHED = "pg.new"
_BUILTIN_LOCALE = 17  # the first PostgreSQL with a locale provider of its own

# Settings go to a file, for `-c` on the command line would override ALTER SYSTEM. Errors are
# logged tersely and without their statement: details of a refused row hold its content.
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "synchronous_commit": "on",
    "autovacuum_naptime": "5s",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}


def initialise(data: Path, binaries: Binaries, account: Account | None, *, durable: bool) -> None:
    """Make the data folder unless it is there. An interrupted initdb is begun again.

    Everyone who can open the socket is trusted: its folder has mode 0700, and whoever could pass
    that could read the data files themselves, so a password beside them would protect nothing.

    Raises EmbeddedError if initdb fails or the data is of another major version.
    """
    # Under a new name each time: an initdb whose owner was killed may still be writing to its own,
    # and then what it left is removed at a later start.
    for left in data.parent.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(EmbeddedError):
            as_account(["rm", "-rf", str(left)], account)
    if (data / "PG_VERSION").exists():
        _refuse_other_major(data, binaries)
        return
    unfinished = data.with_name(f"{_UNFINISHED}-{secrets.token_hex(4)}")
    locale = ["--locale=C.UTF-8"]
    if binaries.major >= _BUILTIN_LOCALE:
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    options = ["--encoding=UTF8", "--auth=trust", f"--username={SUPERUSER}", "--no-instructions"]
    sync = [] if durable else ["--no-sync"]
    initdb = [binaries.program("initdb"), "-D", str(unfinished), *options, *locale, *sync]
    as_account(initdb, account)
    include = "\ninclude_if_exists = 'fencepost.conf'\n"
    _write(unfinished / "postgresql.conf", include, account, append=True)
    as_account(["mv", str(unfinished), str(data)], account)


def configure(data: Path, socket: Path, account: Account | None, *, durable: bool) -> None:
    """Write our settings; ALTER SYSTEM still overrides them."""
    safe = "on" if durable else "off"
    chosen = _SETTINGS | {
        "unix_socket_directories": str(socket),
        "fsync": safe,
        "full_page_writes": safe,
    }
    lines = [f"{name} = '{_quoted(value)}'\n" for name, value in chosen.items()]
    _write(data / "fencepost.conf", "".join(lines), account, append=False)


def clean_environment() -> dict[str, str]:
    """Return the environment for the server's programs: no PG* variable of the caller's."""
    return {"PATH": os.defpath, "LC_ALL": "C", "HOME": "/", "TZ": "UTC"}


def identity(account: Account | None) -> dict[str, Any]:
    """Return the arguments of subprocess that make a child run as the account."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def as_account(command: list[str], account: Account | None, text: str | None = None) -> None:
    """Run a command as the account. Raises EmbeddedError with what it said if it fails."""
    done = subprocess.run(  # noqa: S603 - fixed programs, no shell text from outside
        command,
        input=text or "",
        check=False,
        capture_output=True,
        text=True,
        cwd="/",
        umask=0o077,
        env=clean_environment(),
        **identity(account),
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()[-4:]
        raise EmbeddedError(f"{Path(command[0]).name} failed: " + "; ".join(said))


def _write(path: Path, text: str, account: Account | None, *, append: bool) -> None:
    script = 'cat >> "$0"' if append else 'cat > "$0.new" && mv "$0.new" "$0"'
    as_account(["sh", "-c", script, str(path)], account, text)


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")


def _refuse_other_major(data: Path, binaries: Binaries) -> None:
    made_by = int((data / "PG_VERSION").read_text(encoding="ascii").split(".", 1)[0])
    if made_by != binaries.major:
        raise EmbeddedError(
            f"{data} was made by PostgreSQL {made_by} and this is {binaries.major}: dump it with"
            " the old one and restore it here, or set DATABASE_URL"
        )

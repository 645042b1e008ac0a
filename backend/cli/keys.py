"""`fencepost key`: make, list and revoke what people and services identify themselves with."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter, validators

from backend import settings
from backend.cli.database import default_tenant, open_database
from backend.cli.failure import Failure
from backend.db.principal import list_keys
from backend.services import keys
from shared.vocabulary import KeyEnv, Role

key = App(name="key", help="Make, list and revoke keys.")

RoleName = Literal["producer", "reviewer", "lead"]


@key.command
def create(  # noqa: PLR0913 - each is an option of the command line
    *,
    name: str,
    role: RoleName,
    queue: str | None = None,
    env: Literal["live", "test"] | None = None,
    days: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=3650))] | None = None,
    out: Path | None = None,
    data: Path | None = None,
) -> None:
    """Make a key. It is shown once: the database keeps only a hash of it.

    Parameters
    ----------
    name
        Who holds it, such as anna or shop-backend; made if there is no one of this name.
    role
        What the holder may do.
    queue
        The one queue it is for. Without it: every queue.
    env
        The kind of server it is for. Without it: FENCEPOST_ENV, else live.
    days
        How long it is valid. Without it: until it is revoked.
    out
        New file to write it to, readable by you alone. Without it the key is printed.
    data
        Folder of the embedded database, if not the usual one.
    """
    if out is not None:
        _refuse_existing(out)
    lasting = timedelta(days=days) if days else None
    text = asyncio.run(_create(name, Role(role), queue, env, lasting, data))
    if out is None:
        sys.stdout.write(text + "\n")
        return
    write_private(out, text + "\n")
    sys.stdout.write(f"the key of {name} ({role}) is in {out}\n")


@key.command(name="list")
def list_(*, data: Path | None = None) -> None:
    """List all keys: their id, holder, roles, and whether they are valid.

    Parameters
    ----------
    data
        Folder of the embedded database, if not the usual one.
    """
    asyncio.run(_list(data))


@key.command
def revoke(key_id: str, /, *, data: Path | None = None) -> None:
    """Revoke a key for good; servers refuse it within a second.

    Parameters
    ----------
    key_id
        Its id, as key list shows it: the third part of the key, 12 characters.
    data
        Folder of the embedded database, if not the usual one.
    """
    asyncio.run(_revoke(key_id, data))
    sys.stdout.write(f"{key_id} is revoked\n")


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner can read. Raises Failure if it can't be made."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)


def _refuse_existing(path: Path) -> None:
    """Say it before a key is made that nobody would ever see."""
    if path.exists() or not path.parent.is_dir():
        problem = "is there already" if path.exists() else "is in no folder that exists"
        raise Failure(f"--out: {path} {problem}.", 2)


async def _create(
    name: str,
    role: Role,
    queue: str | None,
    env: str | None,
    lasting: timedelta | None,
    data: Path | None,
) -> str:
    kind = "service" if role is Role.PRODUCER else "person"
    chosen = KeyEnv(env or settings.read().env)
    async with open_database(data) as db:
        return await keys.create(db, name, kind, role, queue, chosen, lasting)


async def _list(data: Path | None) -> None:
    async with open_database(data) as db, db.connection() as connection:
        rows = await list_keys(connection, await default_tenant(db))
    for row in rows:
        used = f"last used {row.last_used_at:%Y-%m-%d %H:%M}" if row.last_used_at else "never used"
        until = f"until {row.expires_at:%Y-%m-%d %H:%M}" if row.expires_at else "without end"
        state = "revoked" if row.revoked_at else "valid" if row.usable else "not valid"
        grants = ", ".join(row.grants)
        sys.stdout.write(
            f"{row.key_id}  {row.env}  {state:<9}  {row.name}  {grants}  {until}  {used}\n"
        )
    if not rows:
        sys.stdout.write("there are no keys yet; make one: fencepost key create\n")


async def _revoke(key_id: str, data: Path | None) -> None:
    async with open_database(data) as db:
        await keys.revoke(db, key_id)

"""`fencepost bootstrap` and `fencepost migrate`: what an operator does at first and at upgrades."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from backend import settings
from backend.cli.database import open_place
from backend.cli.failure import Failure
from backend.db import migrate as migrations
from backend.db.bootstrap import bootstrap as set_up

Switch = Annotated[bool, Parameter(negative="", show_default=False)]


def bootstrap(*, data: Path | None = None) -> None:
    """Make the database, its roles and the place of its schema. May be repeated at any time.

    Needs FENCEPOST_ADMIN_URL, the address of PostgreSQL as an administrator, unless the embedded
    database is used. Run migrate after it.

    Parameters
    ----------
    data
        Folder of the embedded database, if not the usual one.
    """
    asyncio.run(_bootstrap(data))
    sys.stdout.write("database, roles and schema are there; next: fencepost migrate\n")


def migrate(*, status: Switch = False, dry_run: Switch = False, data: Path | None = None) -> None:
    """Bring the schema forward.

    What is missing is carried out in order, each file whole or not at all. Needs
    FENCEPOST_ADMIN_URL unless the embedded database is used.

    Parameters
    ----------
    status
        Only show what was carried out and what is missing; the exit code is 1 if something is.
    dry_run
        Carry everything out and take it back.
    data
        Folder of the embedded database, if not the usual one.
    """
    if status and dry_run:
        raise Failure("--status and --dry-run exclude each other.", 2)
    if status:
        asyncio.run(_show_status(data))
    else:
        asyncio.run(_migrate(data, dry_run=dry_run))


async def _bootstrap(data: Path | None) -> None:
    async with open_place(settings.read(), data, share=True) as place:
        await set_up(place.admin())


async def _migrate(data: Path | None, *, dry_run: bool) -> None:
    async with open_place(settings.read(), data, share=True) as place:
        if place.server is not None:
            await set_up(place.admin())
        carry_out = migrations.dry_run if dry_run else migrations.migrate
        names = await carry_out(place.admin())
    did = "would be carried out" if dry_run else "carried out"
    for name in names:
        sys.stdout.write(f"{did}: {name}\n")
    if not names:
        sys.stdout.write("nothing is missing\n")


async def _show_status(data: Path | None) -> None:
    async with open_place(settings.read(), data, share=True) as place:
        if place.server is not None:
            await set_up(place.admin())
        standing = await migrations.status(place.admin())
    for one in standing:
        when = one.applied_at.isoformat(timespec="seconds") if one.applied_at else "missing"
        sys.stdout.write(f"{one.name:<32} {when}\n")
    missing = sum(one.applied_at is None for one in standing)
    if missing:
        raise Failure(f"{missing} of {len(standing)} migrations are missing.")

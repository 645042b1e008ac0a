"""`fencepost policy`: show, check and activate the documents that say what is ambiguous."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

from cyclopts import App

from backend.cli.database import default_tenant, open_database
from backend.cli.failure import Failure
from backend.db.connection import Database
from backend.db.policy import read_active_policy
from backend.domain.policy import Policy, PolicyError, parse_policy
from backend.domain.refusals import Busy, InvalidField
from backend.services.policies import (
    STANDARD,
    Activated,
    ActivePolicy,
    put_in_force,
    shipped_policy,
)
from backend.services.succession import Change, QueueChange

policy = App(name="policy", help="Show, check and activate policies.")


@policy.command
def show(name: str | None = None, /, *, data: Path | None = None) -> None:
    """Print a policy as its TOML text.

    Parameters
    ----------
    name
        A policy that comes with fencepost (standard, hate-offensive). Without it: the one in force.
    data
        Folder of the embedded database, if not the usual one.
    """
    sys.stdout.write(text_of(name) if name else asyncio.run(_active_text(data)))


@policy.command
def check(file: str, /) -> None:
    """Check a policy, and name everything that is wrong with it.

    Parameters
    ----------
    file
        A TOML file, or the name of a policy that comes with fencepost.
    """
    found = parsed(file, text_of(file))
    sys.stdout.write(
        f"{file}: version {found.version} is fine: {len(found.categories)} categories,"
        f" {len(found.queues)} queues, {len(found.reasons)} reasons\n"
    )
    for line in _intended(found):
        sys.stdout.write(line + "\n")


@policy.command(name="activate")
def activate_(file: str, /, *, data: Path | None = None) -> None:
    """Put a policy in force. Decisions keep the version that they were made under.

    Parameters
    ----------
    file
        A TOML file, or the name of a policy that comes with fencepost.
    data
        Folder of the embedded database, if not the usual one.
    """
    activated = asyncio.run(_activate(file, data))
    sys.stdout.write(f"version {activated.policy.version} is in force\n")
    for change in activated.queues:
        sys.stdout.write(_told(change) + "\n")
    if activated.unrouted:
        kinds, default = ", ".join(activated.unrouted), activated.policy.default_queue
        sys.stdout.write(f"no queue names {kinds} any more: to {default}, routes.default\n")


def text_of(name: str) -> str:
    """Return the text of a policy file, or of a policy that comes with fencepost.

    Raises Failure if there is neither.
    """
    path = Path(name)
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Failure(f"{name}: not a text in UTF-8", 2) from None
    except OSError as error:
        if "/" in name or path.suffix:
            raise Failure(f"{name}: {error.strerror}", 2) from None
    try:
        return shipped_policy(name)
    except (KeyError, ValueError):
        raise Failure(f"{name}: neither a file nor a policy that comes with fencepost", 2) from None


def parsed(name: str, text: str) -> Policy:
    """Return the policy. Names each fault on a line of its own, then raises Failure."""
    try:
        return parse_policy(text)
    except PolicyError as error:
        for fault in error.faults:
            sys.stderr.write(f"{name}: {fault}\n")
        count = len(error.faults)
        faults = f"{count} fault{'s' * (count != 1)}"
        raise Failure(f"{name} can't be a policy: {faults}, see above.") from None


async def ensure_policy(db: Database, wanted: str | None) -> str:
    """Have a policy in force and return its version.

    `wanted` is put in force if it is not; without it the shipped one is, if there is none at all.
    """
    tenant_id = await default_tenant(db)
    if wanted is None:
        try:
            return (await ActivePolicy(db).of(tenant_id)).version
        except Busy:
            wanted = STANDARD
    return (await _put_in_force(db, tenant_id, wanted)).policy.version


async def _put_in_force(db: Database, tenant_id: int, wanted: str) -> Activated:
    text = text_of(wanted)
    parsed(wanted, text)
    try:
        return await put_in_force(db, tenant_id, text)
    except InvalidField as refusal:
        if refusal.field != "version":
            raise Failure(f"{wanted} can't be put in force: {refusal}.") from None
        line = f"{wanted}: {refusal}; give the changed policy a version of its own."
        raise Failure(line) from None


async def _activate(name: str, data: Path | None) -> Activated:
    async with open_database(data) as db:
        return await _put_in_force(db, await default_tenant(db), name)


def _intended(found: Policy) -> Iterator[str]:
    """Say of each queue what putting this policy in force would do to it, as far as it tells."""
    for name, terms in found.queues.items():
        if terms.draining:
            yield f"queue {name} drains: nothing new comes in, what is there is worked off"
        for old in terms.formerly:
            yield f"queue {name} takes the place of {old}: undecided items and grants go there"


def _told(one: QueueChange) -> str:
    items = f"{one.moved} item{'s' * (one.moved != 1)} moved, grants copied"
    return {
        Change.OPENED: f"queue {one.queue} is open",
        Change.DRAINS: f"queue {one.queue} drains: nothing new comes in",
        Change.RENAMED: f"queue {one.queue} is now {one.successor}: {items}",
        Change.MERGED: f"queue {one.queue} went into {one.successor}: {items}",
        Change.CLOSED: f"queue {one.queue} is closed",
    }[one.change]


async def _active_text(data: Path | None) -> str:
    async with open_database(data) as db:
        tenant_id = await default_tenant(db)
        async with db.connection() as connection:
            row = await read_active_policy(connection, tenant_id)
    if row is None:
        raise Failure("no policy is in force yet.")
    return row.document

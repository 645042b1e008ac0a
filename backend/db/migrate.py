"""Bring the schema forward: numbered SQL files, each once, in order, whole or not at all.

A file is `NNNN_subject.sql`, its first line says why. It runs as the owner in a transaction of its
own; if its first line contains `-- no-transaction` it holds one statement that can't run in one
(CREATE INDEX CONCURRENTLY) and that may be repeated. What has run never changes: its SHA-256 is
kept beside its number, and a file that differs from it is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import asyncpg
import msgspec

from backend.db.statements import many, run, statement

_TURN = 0x6D696772  # the advisory lock of migrations
_PATIENCE_FOR_TURN = 600.0  # seconds
_PATIENCE_FOR_TABLES = "5s"  # a waiting ALTER TABLE stops everyone behind it
_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")
_NO_TRANSACTION = "-- no-transaction"


class MigrationError(Exception):
    """The schema can't be brought forward, or is not what this code expects."""


class Migration(msgspec.Struct, frozen=True):
    """One file."""

    version: int
    name: str
    text: str

    @property
    def sha256(self) -> bytes:
        """The hash that is kept of it."""
        return hashlib.sha256(self.text.encode()).digest()

    @property
    def in_transaction(self) -> bool:
        """Whether it runs in a transaction."""
        return _NO_TRANSACTION not in self.text.partition("\n")[0]


class Applied(msgspec.Struct, frozen=True):
    """What a database remembers of a migration."""

    version: int
    name: str
    sha256: bytes
    applied_at: datetime


class Standing(msgspec.Struct, frozen=True):
    """One migration and when it was carried out; None: not yet."""

    version: int
    name: str
    applied_at: datetime | None


def load(directory: Traversable | None = None) -> list[Migration]:
    """Read the migrations, in order. Raises MigrationError for a gap or an odd name."""
    directory = directory or files("sql").joinpath("migrations")
    found = []
    for entry in sorted(directory.iterdir(), key=lambda entry: entry.name):
        if not entry.name.endswith(".sql"):
            continue
        number = _NAME.fullmatch(entry.name)
        if number is None:
            raise MigrationError(f"{entry.name}: a migration is named NNNN_subject.sql")
        found.append(Migration(int(number[1]), entry.name, entry.read_text(encoding="utf-8")))
    for expected, migration in enumerate(found, start=1):
        if migration.version != expected:
            raise MigrationError(f"migration {expected:04} is missing before {migration.name}")
    return found


async def migrate(admin_url: str, migrations: Sequence[Migration] | None = None) -> list[str]:
    """Carry out what is missing and return the names. Several at once wait for each other.

    Raises MigrationError with the name of the file that failed; those before it stay, of it
    nothing does.
    """
    wanted = load() if migrations is None else migrations
    async with _as_owner(admin_url) as connection:
        pending = check(wanted, await _applied(connection))
        await _make_table(connection)
        for migration in pending:
            await _carry_out(connection, migration)
    return [migration.name for migration in pending]


async def dry_run(admin_url: str, migrations: Sequence[Migration] | None = None) -> list[str]:
    """Carry out what is missing and take it all back; return the names.

    Those that can't run in a transaction are named but not tried. Raises as `migrate` does.
    """
    wanted = load() if migrations is None else migrations
    async with _as_owner(admin_url) as connection:
        pending = check(wanted, await _applied(connection))
        trial = connection.transaction()
        await trial.start()
        try:
            await _make_table(connection)
            for migration in pending:
                if migration.in_transaction:
                    await _carry_out(connection, migration)
        finally:
            await trial.rollback()
    return [migration.name for migration in pending]


async def status(admin_url: str, migrations: Sequence[Migration] | None = None) -> list[Standing]:
    """Tell of each migration whether and when it was carried out. Raises as `migrate` does."""
    wanted = load() if migrations is None else migrations
    connection = await asyncpg.connect(admin_url)
    try:
        applied = await _applied(connection)
    finally:
        await connection.close()
    check(wanted, applied)
    when = {row.version: row.applied_at for row in applied}
    return [Standing(m.version, m.name, when.get(m.version)) for m in wanted]


async def pending(connection: Any) -> list[str]:
    """Return the names of what is missing. Raises MigrationError if the schema is not ours."""
    return [migration.name for migration in check(load(), await _applied(connection))]


def check(wanted: Sequence[Migration], applied: Sequence[Applied]) -> Sequence[Migration]:
    """Compare the files with what a database remembers; return what is missing.

    Raises MigrationError if a file changed, one was left out, or the database is ahead of us.
    """
    for position, row in enumerate(applied):
        if position >= len(wanted):
            raise MigrationError(f"the database is newer than this program: it has {row.name}")
        ours = wanted[position]
        if row.version != ours.version:
            raise MigrationError(f"the database lacks {ours.name} but has {row.name}")
        if row.sha256 != ours.sha256:
            raise MigrationError(f"{ours.name} was changed after it had been carried out")
    return wanted[len(applied) :]


@contextlib.asynccontextmanager
async def _as_owner(admin_url: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Connect, wait for our turn, and become the owner of the schema."""
    connection = await asyncpg.connect(admin_url)
    try:
        try:
            async with asyncio.timeout(_PATIENCE_FOR_TURN):
                await _setting(connection, "take_turn", key=_TURN)
        except TimeoutError as error:
            raise MigrationError("another migration has been running for too long") from error
        try:
            await _setting(connection, "become_owner", lock_timeout=_PATIENCE_FOR_TABLES)
        except asyncpg.InvalidParameterValueError as error:
            raise MigrationError(f"{error}: run bootstrap first") from error
        yield connection
    finally:
        await connection.close()


async def _setting(
    connection: asyncpg.Connection[asyncpg.Record], name: str, **parameters: object
) -> None:
    await run(statement("setup", name), connection, **parameters)


async def _applied(connection: Any) -> list[Applied]:
    if not await _is_kept(connection):
        return []
    return await many(statement("setup", "applied_migrations"), Applied, connection)


async def _make_table(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    if await _is_kept(connection):
        return
    try:
        async with connection.transaction():
            await _setting(connection, "create_migration_table")
            await _setting(connection, "grant_migration_table")
    except asyncpg.InvalidSchemaNameError as error:
        raise MigrationError(f"{error}: run bootstrap first") from error


async def _is_kept(connection: Any) -> bool:
    """Tell whether the table of migrations is there."""
    return bool(await statement("setup", "migrations_are_kept")(connection))


async def _carry_out(connection: asyncpg.Connection[asyncpg.Record], migration: Migration) -> None:
    note = {"version": migration.version, "name": migration.name, "sha256": migration.sha256}
    record = statement("setup", "record_migration")
    try:
        if migration.in_transaction:
            async with connection.transaction():
                await connection.execute(migration.text)
                await run(record, connection, **note)
        else:
            await connection.execute(migration.text)
            await run(record, connection, **note)
    except asyncpg.PostgresError as error:
        raise MigrationError(f"{migration.name} failed: {error} ({error.sqlstate})") from error

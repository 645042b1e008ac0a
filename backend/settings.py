"""The only reader of the environment: it becomes one frozen value, which is passed on by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Meta

_PREFIX = "FENCEPOST_"
_DATABASES = {"database_url", "admin_url", "reader_url", "listen_url"}
_OWN_NAMES = {"database_url": "DATABASE_URL", "pg_bin": "FENCEPOST_TEST_PG_BIN"}

_STATEMENTS_KEPT = 100

Port = Annotated[int, Meta(ge=0, le=65535)]
Count = Annotated[int, Meta(ge=1, le=1000)]
Seconds = Annotated[float, Meta(gt=0, le=3600)]


class SettingsError(Exception):
    """A variable of the environment has a value that can't be; the message names it."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What can be chosen from outside; each field is the variable FENCEPOST_<FIELD>.

    `database_url` is DATABASE_URL, the address as the runtime role. Without it the embedded
    database in `data` is used. `listen_url` is for when `database_url` leads to a pooler: the same
    database without it, for the one connection of a server that needs a session to itself.
    `statement_cache` is how many statements each session keeps prepared: without it none behind a
    pooler, else 100.
    """

    database_url: str | None = None
    admin_url: str | None = None
    listen_url: str | None = None
    server: str | None = None
    key: str | None = None
    data: str | None = None
    pg_bin: str | None = None
    host: str = "127.0.0.1"
    port: Port = 8737
    env: Annotated[str, Meta(pattern="^(live|test)$")] = "live"
    pool_size: Count = 16
    acquire_seconds: Seconds = 5.0
    statement_cache: Annotated[int, Meta(ge=0, le=10_000)] | None = None

    def __repr__(self) -> str:
        """Name no address: it may hold a password."""
        return f"Settings(host={self.host!r}, port={self.port}, env={self.env!r})"

    @property
    def statements_kept(self) -> int:
        """How many statements a session keeps prepared; behind a pooler no session is our own."""
        if self.statement_cache is not None:
            return self.statement_cache
        return _STATEMENTS_KEPT if self.listen_url is None else 0

    @property
    def data_folder(self) -> Path | None:
        """The folder of the embedded database; None: the default one."""
        return Path(self.data) if self.data else None

    @property
    def pg_bin_folder(self) -> Path | None:
        """A folder of PostgreSQL programs to use instead of the wheel's; for tests."""
        return Path(self.pg_bin) if self.pg_bin else None


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings. Raises SettingsError for a value that can't be.

    An empty variable counts as one that is not set.
    """
    given = os.environ if environment is None else environment
    values = {}
    for field in Settings.__struct_fields__:
        value = given.get(variable(field))
        if value:
            values[field] = value
    for field in _DATABASES & values.keys():
        if not _is_database(values[field]):
            raise SettingsError(f"{variable(field)}: not an address such as postgresql://host/name")
    try:
        return msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        name = variable(where.rstrip("`")) if where else "the environment"
        raise SettingsError(f"{name}: {what}") from error


def _is_database(address: str) -> bool:
    """Tell whether a driver could make out the parts of a database's address."""
    try:
        parts = urlsplit(address)
        hosts = parts.netloc.rpartition("@")[2].split(",")
        ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts]
        for given in parse_qs(parts.query).get("port", ()):
            ports += given.split(",")
    except ValueError:
        return False
    are_ports = all(port.isascii() and port.isdigit() for port in ports if port)
    return parts.scheme in ("postgresql", "postgres") and are_ports


def variable(field: str) -> str:
    """Return the name of the variable that sets a field."""
    return _OWN_NAMES.get(field, _PREFIX + field.upper())

"""`sql/schema.sql`: the migrated schema in one readable file, written by

    ./run python -m tests.support.snapshot

A test compares it, so nobody has to replay the migrations in his head. It is always made by the
wheel's PostgreSQL, for another version words the same schema otherwise.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path

from backend.db.bootstrap import bootstrap
from backend.db.embedded import server
from backend.db.migrate import migrate

FILE = Path(__file__).resolve().parents[2] / "sql" / "schema.sql"
_HEADER = "-- The schema after all migrations. Generated: ./run python -m tests.support.snapshot\n"
_NOISE = re.compile(r"^(SET |SELECT pg_catalog\.set_config|\\(un)?restrict |--)")


async def current() -> str:
    """Migrate an empty database and dump its schema."""
    async with server(None, fresh=True, durable=False) as running:
        url = running.url("snapshot")
        await bootstrap(url)
        await migrate(url)
        program = running.binaries.program("pg_dump")
        return tidied(await asyncio.to_thread(_dump, program, url))


def tidied(dump: str) -> str:
    """Leave out what is not schema: settings, comments, runs of empty lines."""
    lines = [line for line in dump.splitlines() if not _NOISE.match(line)]
    return _HEADER + "\n" + re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def _dump(program: str, url: str) -> str:
    # The key would be random, and the dump another one each time.
    options = ["--schema-only", "--schema=fencepost", "--restrict-key=fencepost"]
    done = subprocess.run([program, *options, url], check=True, capture_output=True, text=True)
    return done.stdout


if __name__ == "__main__":
    FILE.write_text(asyncio.run(current()), encoding="utf-8")

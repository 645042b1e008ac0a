"""A process that runs an embedded server and says so in one line of JSON; it ends by a signal."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from backend.db.embedded import server
from tests.support.postgres import own_binaries


async def main(folder: str) -> None:
    chosen = Path(folder) if folder else None
    options = {"fresh": chosen is None, "durable": False}
    async with server(chosen, binaries=own_binaries(), **options) as running:
        said = {"pid": running.pid, "url": running.url(), "folder": str(running.folder)}
        print(json.dumps(said), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))

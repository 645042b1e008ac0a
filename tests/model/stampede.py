"""One process of many clients: each opens a connection, waits at the barrier, and claims once.

    python -m tests.model.stampede QUEUE < clients.json

Standard input: one JSON line `[[port, key], ...]`, then a line for each time to go. Each time one
JSON line comes back: what every client was answered, the item's id, or a refusal's text.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from typing import Any


class Client:
    """One person at one connection."""

    def __init__(self, port: int, key: str, queue: str) -> None:
        self._port = port
        self._head = (
            f"POST /v1/queues/{queue}/claim HTTP/1.1\r\nhost: test\r\n"
            f"authorization: Bearer {key}\r\ncontent-type: application/json\r\n"
        )
        self._claim_key = str(uuid.uuid4())

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def claim(self) -> dict[str, Any]:
        """Claim until there is an answer that is none of "too busy"; always with the same key."""
        body = json.dumps({"claim_key": self._claim_key}).encode()
        while True:
            self._writer.write(f"{self._head}content-length: {len(body)}\r\n\r\n".encode() + body)
            status, answer = await self._answer()
            if status != 503:
                return {"status": status, "answer": answer}
            await asyncio.sleep(0.2)

    async def _answer(self) -> tuple[int, Any]:
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        return int(head.split(b" ", 2)[1]), json.loads(await self._reader.readexactly(length))


def _told(said: dict[str, Any]) -> Any:
    lease = said["answer"].get("lease")
    if said["status"] == 200 and lease is not None:
        return [lease["item_id"], lease["lease_token"]]
    return said["answer"].get("code", "nothing")


async def main(queue: str) -> None:
    loop = asyncio.get_running_loop()
    clients = [Client(port, key, queue) for port, key in json.loads(sys.stdin.readline())]
    await asyncio.gather(*(one.connect() for one in clients))
    print("ready", flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        said = await asyncio.gather(*(one.claim() for one in clients))
        print(json.dumps([_told(one) for one in said]), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))

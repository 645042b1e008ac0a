"""Reviewers who do nothing but decide, over HTTP: each on a connection of his own, one at a time.

Written against the wire's bytes, so that the load costs little beside the server that it measures.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

_BUFFER = 2**20


class _Held(msgspec.Struct):
    item_id: str
    lease_token: str
    evidence_hash: str


class _Claimed(msgspec.Struct):
    lease: _Held | None


class _Decided(msgspec.Struct):
    next: _Claimed | None


class Reviewer:
    """One connection; `decide` is one cycle: a verdict and the claim of the next item."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str, queue: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._head = f"host: bench\r\nauthorization: Bearer {key}\r\ncontent-type: application/json"
        self._queue = queue
        self._held: _Held | None = None

    async def claim(self) -> None:
        """Take the first item."""
        said = {"claim_key": str(uuid.uuid4())}
        answer = await self._post(f"/v1/queues/{self._queue}/claim", said)
        self._held = msgspec.json.decode(answer, type=_Claimed).lease

    async def decide(self, reason: str) -> None:
        """Decide what is held, and take the next in the same request."""
        held = self._held
        assert held is not None, "the queue ran empty: more must wait"
        said = {
            "lease_token": held.lease_token,
            "verdict_token": str(uuid.uuid4()),
            "evidence_hash": held.evidence_hash,
            "verdict": "approve",
            "reason": reason,
            "claim_next": str(uuid.uuid4()),
            "seen": 100,
            "dwell_ms": 1000,
        }
        answer = await self._post(f"/v1/items/{held.item_id}/verdict", said)
        following = msgspec.json.decode(answer, type=_Decided).next
        self._held = None if following is None else following.lease

    async def _post(self, path: str, said: Mapping[str, object]) -> bytes:
        body = msgspec.json.encode(said)
        head = f"POST {path} HTTP/1.1\r\n{self._head}\r\ncontent-length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        told = await self._reader.readuntil(b"\r\n\r\n")
        lowered = told.lower()
        length = int(lowered.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        answer = await self._reader.readexactly(length)
        if not told.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{told[:80]!r} {answer[:300]!r}")
        return answer


@contextlib.asynccontextmanager
async def reviewers(port: int, keys: Sequence[str], queue: str) -> AsyncIterator[list[Reviewer]]:
    """Connect one reviewer a key, each with an item in hand."""
    writers = []
    made = []
    try:
        for key in keys:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=_BUFFER)
            writers.append(writer)
            made.append(Reviewer(reader, writer, key, queue))
        await asyncio.gather(*(one.claim() for one in made))
        yield made
    finally:
        for writer in writers:
            writer.close()


async def cycles_per_second(people: Sequence[Reviewer], reason: str, seconds: float) -> float:
    """Let everybody decide for some seconds; return the cycles a second of all together."""
    until = time.perf_counter() + seconds
    done = [0] * len(people)

    async def work(place: int, one: Reviewer) -> None:
        while time.perf_counter() < until:
            await one.decide(reason)
            done[place] += 1

    started = time.perf_counter()
    await asyncio.gather(*(work(place, one) for place, one in enumerate(people)))
    return sum(done) / (time.perf_counter() - started)

"""Those who need no token: leads who take back, move and withdraw, and the producer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import asyncpg
import msgspec

from backend.domain.identity import Identity
from backend.services.move import move
from backend.services.revise import revise
from backend.services.take_back import take_back
from backend.services.withdraw import withdraw_content, withdraw_items
from shared.vocabulary import BulkResult, TakeBackReason
from shared.wire.evidence import EvidenceRevision, Revised
from shared.wire.item import BulkAnswer, MoveRequest, TakeBackRequest, WithdrawItemsRequest
from tests.model.crowd import Client, Crowd, watching
from tests.model.register import Op

_PAUSE = 0.01
"""Seconds between two deeds: leads are few, and there must be something left to race for."""
_ANY = """
SELECT i.id, i.queue, i.state, i.lease_epoch, i.fence_token::text AS token, n.content_id
FROM item i JOIN content n ON n.id = i.content_id
WHERE i.state <> 'resolved' OR random() < 0.1 ORDER BY random() LIMIT 1
"""
_HELD = """
SELECT id, lease_epoch, fence_token::text AS token FROM item WHERE owner IS NOT NULL
ORDER BY random() LIMIT 1
"""


class Senior(Client):
    """A lead or a producer, with a look at the tables that stands for his lists."""

    async def take_back(self) -> None:
        seen = await self.watch.fetchrow(_HELD)
        if seen is None:
            return
        request = TakeBackRequest(
            lease_epoch=seen["lease_epoch"], reason=TakeBackReason.HOLDER_AWAY
        )
        op = self.op("take_back", seen["id"], seen["token"])
        for _ in range(self.crowd.random.choice([1, 1, 2])):  # a double click
            desk = self.crowd.desk
            await self.call(op, partial(take_back, desk.db, self.who, str(seen["id"]), request))

    async def move(self) -> None:
        seen = await self._any()
        to = self.crowd.random.choice(["posts", "cases", "escalation"])
        desk, request = self.crowd.desk, MoveRequest(items=(str(seen["id"]),), to=to)
        work = partial(move, desk.db, desk.policy, self.who, request)
        await self._bulk(self.op("move", seen["id"]), work)

    async def withdraw(self) -> None:
        seen = await self._any()
        request = WithdrawItemsRequest(items=(str(seen["id"]),))
        work = partial(withdraw_items, self.crowd.desk.db, self.who, request)
        await self._bulk(self.op("withdraw", seen["id"]), work)

    async def _bulk(self, op: Op, work: Any) -> None:
        """Write a bulk's one row down as what it says; an item left as it was says nothing."""

        async def told() -> BulkResult:
            answer: BulkAnswer = await work()
            (row,) = answer.rows
            return row.result

        result = await self.call(op, told)
        done = self.crowd.history.pop() if result is not None else None
        if done is not None and result is BulkResult.DONE:
            self.crowd.history.append(done)
        elif done is not None and result is BulkResult.RESOLVED:
            self.crowd.history.append(replace(done, outcome="refused"))

    async def withdraw_content(self) -> None:
        seen = await self._any()
        work = partial(withdraw_content, self.crowd.desk.db, self.who, seen["content_id"])
        answer = await self.call(self.op("withdraw", seen["id"]), work)
        if answer is not None and answer.item_id != str(seen["id"]):
            self.crowd.history.pop()  # another round was the open one: of that the tables tell

    async def revise(self) -> None:
        seen, desk = await self._any(), self.crowd.desk
        text = f"text {self.crowd.random.random()}"
        body = EvidenceRevision(text=text, fields=msgspec.Raw(b"{}"))
        began = await self.now()
        work = partial(revise, desk.db, desk.policy, self.who, seen["content_id"], body)
        answer: Revised | None = await self.call(self.op("revise", seen["id"]), work)
        if answer is not None and answer.item_id == str(seen["id"]) and not answer.reopened:
            op = self.op("revise", seen["id"], revision=answer.revision)
            self.crowd.history.append(replace(op, invoked=began, returned=await self.now()))

    async def _any(self) -> asyncpg.Record:
        seen: asyncpg.Record | None = await self.watch.fetchrow(_ANY)
        while seen is None:
            seen = await self.watch.fetchrow(_ANY)
        return seen


@dataclass(frozen=True)
class Seniors:
    """One lead and one producer."""

    boss: Identity
    producer: Identity

    async def lead(self, crowd: Crowd, times: int) -> None:
        async with watching(crowd.desk) as watch:
            boss = Senior(crowd, self.boss, watch)
            for _ in range(times):
                deeds = [boss.take_back] * 6 + [boss.move] * 3 + [boss.withdraw]
                await crowd.random.choice(deeds)()
                await asyncio.sleep(_PAUSE)

    async def produce(self, crowd: Crowd, times: int) -> None:
        async with watching(crowd.desk) as watch:
            producer = Senior(crowd, self.producer, watch)
            for _ in range(times):
                deeds = [producer.revise] * 8 + [producer.withdraw_content]
                await crowd.random.choice(deeds)()
                await asyncio.sleep(_PAUSE)

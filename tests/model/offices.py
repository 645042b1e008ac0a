"""What leads and producers do at the real desk, told in the words of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from backend.domain.identity import Identity
from backend.domain.submission import check_submission
from backend.services.cockpit import health
from backend.services.move import move
from backend.services.reopen import reopen
from backend.services.revise import revise
from backend.services.submit import submit
from backend.services.take_back import take_back
from backend.services.withdraw import withdraw_content, withdraw_items
from shared.vocabulary import TakeBackReason
from shared.wire.content import Submission
from shared.wire.evidence import EvidenceRevision
from shared.wire.item import MoveRequest, ReopenRequest, TakeBackRequest, WithdrawItemsRequest
from tests.model import told
from tests.model.reference.records import Told
from tests.model.told import refusable
from tests.support.desk import Desk


class Offices:
    """The leads of a desk, and the producer who sends to it."""

    def __init__(self, desk: Desk, producer: Identity) -> None:
        self.desk = desk
        self.producer = producer

    async def submit(self, rows: Sequence[tuple[str, str, int, tuple[str, str]]]) -> None:
        """Send contents in one batch: the name, the queue, the power of ten of followers, what."""
        bodies = [
            {
                "content_id": name,
                "queue": queue,
                "author_id": "author",
                "author_followers": 10**power - 1,
                **body_of(body),
            }
            for name, queue, power, body in rows
        ]
        checked = [check_submission(msgspec.convert(body, Submission)) for body in bodies]
        receipts = await submit(self.desk.db, self.desk.policy, self.producer, checked)
        assert all(receipt.state == "pending" for receipt in receipts)

    async def revise(self, name: str, body: tuple[str, str]) -> Told:
        revision = msgspec.convert(body_of(body), EvidenceRevision)
        work = revise(self.desk.db, self.desk.policy, self.producer, name, revision)
        answer = await refusable(work)
        return answer if isinstance(answer, Told) else told.revised(answer)

    async def withdraw(self, name: str) -> Told:
        answer = await refusable(withdraw_content(self.desk.db, self.producer, name))
        return answer if isinstance(answer, Told) else told.withdrawn(answer)

    async def take_back(self, lead: Identity, item: int, epoch: int, reason: str) -> Told:
        request = TakeBackRequest(lease_epoch=epoch, reason=TakeBackReason(reason))
        answer = await refusable(take_back(self.desk.db, lead, str(item), request))
        if isinstance(answer, Told):
            return answer
        return Told("taken_back", {"item": int(answer.item_id), "holder": answer.holder})

    async def move(self, lead: Identity, items: Sequence[int], to: str) -> Told:
        request = MoveRequest(items=tuple(map(str, items)), to=to)
        answer = await refusable(move(self.desk.db, self.desk.policy, lead, request))
        return answer if isinstance(answer, Told) else told.bulk(answer)

    async def withdraw_items(self, lead: Identity, items: Sequence[int]) -> Told:
        request = WithdrawItemsRequest(items=tuple(map(str, items)))
        answer = await refusable(withdraw_items(self.desk.db, lead, request))
        return answer if isinstance(answer, Told) else told.bulk(answer)

    async def reopen(self, lead: Identity, name: str, queue: str | None) -> Told:
        request = ReopenRequest(queue=queue)
        answer = await refusable(reopen(self.desk.db, self.desk.policy, lead, name, request))
        return answer if isinstance(answer, Told) else told.reopened(answer)

    async def health(self, lead: Identity) -> dict[str, dict[str, Any]]:
        """Return what a lead is shown of each queue."""
        shown = await health(self.desk.db, self.desk.policy, lead)
        return {queue.queue: told.health(queue) for queue in shown.queues}


def body_of(body: tuple[str, str]) -> dict[str, Any]:
    """Return what is shown as it is sent: one category in doubt, and the other harmless."""
    text, category = body
    return {"text": text, "labels": msgspec.Raw(_labels(category))}


def _labels(category: str) -> bytes:
    return msgspec.json.encode({"hate": 0.1, "spam": 0.1} | {category: 0.5})

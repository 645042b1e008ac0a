"""What is done while the line is cut: each deed with what must be true once it was sent again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from backend.db.connection import Database
from backend.domain.identity import Identity
from backend.services.claim import claim
from backend.services.lease import release
from backend.services.move import move
from backend.services.park import park
from backend.services.revise import revise
from backend.services.submit import submit
from backend.services.take_back import take_back
from backend.services.take_over import take_over
from backend.services.verdict import verdict
from backend.services.withdraw import withdraw_content
from shared.vocabulary import ParkReason, ReleaseReason, Role, TakeBackReason
from shared.wire.evidence import EvidenceRevision
from shared.wire.item import MoveRequest, ParkRequest, TakeBackRequest
from shared.wire.queue import ReleaseRequest, TakeOverRequest
from tests.support.desk import QUEUE, Desk, new_key
from tests.support.gateway import row


class Deed(NamedTuple):
    """`send` may be sent any number of times, over any line; `check` looks at what it came to."""

    send: Callable[[Database], Awaitable[Any]]
    check: Callable[[Any], Awaitable[None]]


class Scene:
    """A desk with a reviewer, a lead and a producer; every deed brings its own content."""

    def __init__(self, desk: Desk, who: Identity, boss: Identity, producer: Identity) -> None:
        self.desk = desk
        self.who = who
        self.boss = boss
        self.producer = producer
        self._made = 0

    def fresh(self) -> str:
        """Return the id of a content that is not there yet."""
        self._made += 1
        return f"cut-{self._made}"


async def set_scene(desk: Desk) -> Scene:
    """Bring in the people."""
    return Scene(
        desk,
        await desk.person("ann"),
        await desk.person("boss", Role.LEAD),
        await desk.person("shop", Role.PRODUCER),
    )


async def claiming(scene: Scene) -> Deed:
    """A claim: one lease, whatever was heard of it."""
    desk, key = scene.desk, new_key()
    item = await desk.item(scene.fresh())

    async def check(answer: Any) -> None:
        assert answer.lease.item_id == str(item)
        grants = "SELECT count(*) FROM lease_log WHERE item_id = $1 AND happening = 'grant'"
        assert await desk.value(grants, item) == 1
        await desk.decide(scene.who, answer.lease)

    return Deed(lambda db: claim(db, desk.policy, scene.who, QUEUE, key), check)


async def deciding(scene: Scene) -> Deed:
    """A verdict: one decision, and the same answer for ever."""
    desk = scene.desk
    item = await desk.item(scene.fresh())
    lease = await desk.lease(scene.who)
    said = desk.saying(lease)

    async def check(reply: Any) -> None:
        decided = "SELECT id::text FROM decision WHERE item_id = $1"
        assert await desk.value(f"SELECT count(*) FROM ({decided}) d", item) == 1
        assert await desk.value(decided, item) == reply.answer.decision.decision_id
        line = "SELECT count(*) FROM pending_apply p JOIN decision d ON d.id = p.decision_id"
        assert await desk.value(f"{line} WHERE d.item_id = $1", item) == 1

    return Deed(lambda db: verdict(db, desk.policy, scene.who, lease.item_id, said), check)


async def submitting(scene: Scene) -> Deed:
    """A submission: one content with one item, also when the producer never heard of it."""
    desk, content = scene.desk, scene.fresh()
    sent = [row(content, {"offensive": 0.5})]

    async def check(receipts: Any) -> None:
        items = "SELECT count(*) FROM item i JOIN content c ON c.id = i.content_id"
        assert await desk.value(f"{items} WHERE c.content_id = $1", content) == 1
        assert receipts[0].queue == QUEUE
        lease = await desk.lease(scene.who)
        assert lease.content_id == content
        await desk.decide(scene.who, lease)

    return Deed(lambda db: submit(db, desk.policy, scene.producer, sent), check)


async def releasing(scene: Scene) -> Deed:
    """A release: logged once, and it counts once."""
    desk = scene.desk
    await desk.item(scene.fresh())
    lease = await desk.lease(scene.who)
    said = ReleaseRequest(lease_token=lease.lease_token, reason=ReleaseReason.NEED_TIME)

    async def check(_: Any) -> None:
        await _happened_once(desk, lease.item_id, "release")
        left = "SELECT cardinality(left_by) FROM item WHERE id = $1"
        assert await desk.value(left, int(lease.item_id)) == 1

    return Deed(lambda db: release(db, scene.who, lease.item_id, said), check)


async def parking(scene: Scene) -> Deed:
    """A parking: one question, told to the producer once."""
    desk = scene.desk
    await desk.item(scene.fresh())
    lease = await desk.lease(scene.who)
    said = ParkRequest(lease_token=lease.lease_token, reason=ParkReason.AWAIT_PRODUCER)

    async def check(_: Any) -> None:
        await _happened_once(desk, lease.item_id, "park")
        told = "SELECT count(*) FROM outbox o JOIN question q ON q.id = o.question_id"
        assert await desk.value(f"{told} WHERE q.item_id = $1", int(lease.item_id)) == 1

    return Deed(lambda db: park(db, desk.policy, scene.who, lease.item_id, said), check)


async def taking_over(scene: Scene) -> Deed:
    """A take-over: one new token, which decides."""
    desk = scene.desk
    await desk.item(scene.fresh())
    lease = await desk.lease(scene.who)
    asked = TakeOverRequest(claim_key=new_key())

    async def check(answer: Any) -> None:
        await _happened_once(desk, lease.item_id, "take_over")
        await desk.decide(scene.who, answer.lease)

    return Deed(lambda db: take_over(db, desk.policy, scene.who, asked), check)


async def taking_back(scene: Scene) -> Deed:
    """A take-back: once, and never of a later lease."""
    desk = scene.desk
    item = await desk.item(scene.fresh())
    lease = await desk.lease(scene.who)
    epoch = await desk.value("SELECT lease_epoch FROM item WHERE id = $1", item)
    asked = TakeBackRequest(lease_epoch=epoch, reason=TakeBackReason.REASSIGN)

    async def check(answer: Any) -> None:
        assert answer.holder == scene.who.name
        await _happened_once(desk, lease.item_id, "take_back")

    return Deed(lambda db: take_back(db, scene.boss, lease.item_id, asked), check)


async def moving(scene: Scene) -> Deed:
    """A move: one event, in one queue."""
    desk = scene.desk
    item = await desk.item(scene.fresh())
    asked = MoveRequest(items=(str(item),), to="escalation")

    async def check(_: Any) -> None:
        assert await desk.value("SELECT queue FROM item WHERE id = $1", item) == "escalation"
        await _told_once(desk, item, "item.moved")

    return Deed(lambda db: move(db, desk.policy, scene.boss, asked), check)


async def withdrawing(scene: Scene) -> Deed:
    """A withdrawal: one event, and the item is over."""
    desk, content = scene.desk, scene.fresh()
    item = await desk.item(content)

    async def check(_: Any) -> None:
        resolution = "SELECT resolution FROM item WHERE id = $1"
        assert await desk.value(resolution, item) == "withdrawn"
        await _told_once(desk, item, "content.withdrawn")

    return Deed(lambda db: withdraw_content(db, scene.producer, content), check)


async def revising(scene: Scene) -> Deed:
    """New evidence: one revision, however often it was sent."""
    desk, content = scene.desk, scene.fresh()
    item = await desk.item(content)
    said = EvidenceRevision(text="changed")

    async def check(answer: Any) -> None:
        assert answer.revision == 2
        shown = "SELECT evidence_revision FROM item WHERE id = $1"
        assert await desk.value(shown, item) == 2
        await _told_once(desk, item, "evidence.revised")

    def send(db: Database) -> Awaitable[Any]:
        return revise(db, desk.policy, scene.producer, content, said)

    return Deed(send, check)


async def _happened_once(desk: Desk, item: str, happening: str) -> None:
    log = "SELECT count(*) FROM lease_log WHERE item_id = $1 AND happening = $2"
    assert await desk.value(log, int(item), happening) == 1


async def _told_once(desk: Desk, item: int, kind: str) -> None:
    trail = "SELECT count(*) FROM event e JOIN item i USING (content_id)"
    assert await desk.value(f"{trail} WHERE i.id = $1 AND e.type = $2", item, kind) == 1


DEEDS: dict[str, Callable[[Scene], Awaitable[Deed]]] = {
    "claim": claiming,
    "verdict": deciding,
    "submit": submitting,
    "release": releasing,
    "park": parking,
    "take_over": taking_over,
    "take_back": taking_back,
    "move": moving,
    "withdraw": withdrawing,
    "revise": revising,
}

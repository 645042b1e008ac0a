"""What is done while the line is cut: each deed with what must be true once it was sent again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from backend.db.connection import Database
from backend.domain.identity import Identity
from backend.services.claim import claim
from backend.services.submit import submit
from backend.services.verdict import verdict
from shared.vocabulary import Role
from tests.support.desk import QUEUE, Desk, new_key
from tests.support.gateway import row


class Deed(NamedTuple):
    """`send` may be sent any number of times, over any line; `check` looks at what it came to."""

    send: Callable[[Database], Awaitable[Any]]
    check: Callable[[Any], Awaitable[None]]


class Scene:
    """A desk with one reviewer and one producer; every deed brings its own content."""

    def __init__(self, desk: Desk, who: Identity, producer: Identity) -> None:
        self.desk = desk
        self.who = who
        self.producer = producer
        self._made = 0

    def fresh(self) -> str:
        """Return the id of a content that is not there yet."""
        self._made += 1
        return f"cut-{self._made}"


async def set_scene(desk: Desk) -> Scene:
    """Bring in the people."""
    return Scene(desk, await desk.person("ann"), await desk.person("shop", Role.PRODUCER))


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


DEEDS: dict[str, Callable[[Scene], Awaitable[Deed]]] = {
    "claim": claiming,
    "verdict": deciding,
    "submit": submitting,
}

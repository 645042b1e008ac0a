"""Cases in every state that an item can be in, and policies that do something to their queue."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from backend.domain.identity import Grant, Identity
from backend.services.apply import apply_due
from backend.services.claim import claim
from backend.services.park import park
from backend.services.policies import Activated, ActivePolicy, put_in_force
from backend.services.redrive import redrive
from shared.vocabulary import ParkReason, Role, Verdict
from shared.wire.item import ParkRequest
from shared.wire.queue import Lease
from tests.support.desk import Desk, new_key
from tests.support.renaming import STANDARD, deleted, drained, merged, renamed
from tests.support.trail import assert_every_chain_is_whole

RENAMED = renamed(STANDARD, "cases", "files", "v-2")
MERGED = merged(STANDARD, "cases", "posts", "v-2")
MERGED_UPWARDS = merged(STANDARD, "cases", "escalation", "v-2")
DELETED = deleted(STANDARD, "cases", "v-2")
DRAINED = drained(STANDARD, "cases", "v-2")
UNDECIDED = 7
"""How many cases of a full office are undecided."""


async def change(desk: Desk, text: str) -> Activated:
    """Put another policy in force, as the desk knows it from then on."""
    activated = await put_in_force(desk.db, 1, text)
    desk.policy = await ActivePolicy(desk.db).of(1)
    assert desk.policy.version == activated.policy.version
    return activated


async def as_known_now(desk: Desk, who: Identity) -> Identity:
    """Return the same person with the grants that his key has now."""
    rows = await desk.admin.fetch(
        "SELECT role, queue FROM role_grant WHERE principal_id = $1", who.principal_id
    )
    grants = tuple(Grant(role=Role(row["role"]), queue=row["queue"]) for row in rows)
    return msgspec.structs.replace(who, grants=grants)


async def decided_by(desk: Desk, who: Identity, lease: Lease) -> None:
    """Approve with a reason that his queue admits, by whatever name it goes now."""
    queue = desk.policy.queue_named(lease.queue)
    assert queue is not None
    await desk.decide(who, lease, reason=desk.reason(Verdict.APPROVE, queue))


class Office:
    """The cases of a desk in every state that an item can be in, with those who hold them."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.holders: dict[str, tuple[Identity, Lease]] = {}

    async def person(self, name: str) -> Identity:
        return await self.desk.person(name, queue="cases")

    async def held(self, name: str) -> tuple[Identity, Lease]:
        who = await self.person(name)
        await self.desk.item(name, queue="cases", rank=1000 + len(self.holders))
        self.holders[name] = who, await self.desk.lease(who, "cases")
        assert self.holders[name][1].content_id == name
        return self.holders[name]

    async def fill(self) -> None:
        """Put one case into each state."""
        desk = self.desk
        await self.held("given-back")
        await desk.pass_time(timedelta(minutes=4))
        await redrive(desk.db)
        for name in ("abandoned", "stuck"):
            item = await desk.item(name, queue="cases", rank=5)
            column = "abandoned = true" if name == "abandoned" else "stuck_at = clock()"
            await desk.admin.execute(
                f"UPDATE item SET left_by = '{{1,2,3}}', {column} WHERE id = $1", item
            )
        who, lease = await self.held("parked")
        request = ParkRequest(lease_token=lease.lease_token, reason=ParkReason.AWAIT_DATE)
        await park(desk.db, desk.policy, who, lease.item_id, request)
        who, lease = await self.held("told-above")
        await desk.decide(who, lease, Verdict.ESCALATE)
        who, lease = await self.held("told")
        await desk.decide(who, lease)
        await self.held("held")
        _, lease = await self.held("run-out")
        past = "UPDATE item SET lease_expires = clock() - interval '1 second' WHERE id = $1"
        await desk.admin.execute(past, int(lease.item_id))
        await desk.item("waiting", queue="cases", rank=7)

    async def decide_what_is_held(self) -> None:
        """Let everybody decide what he had before, on time or late, with his token of then."""
        for name in ("held", "given-back", "run-out"):
            who, lease = self.holders[name]
            await decided_by(self.desk, await as_known_now(self.desk, who), lease)

    async def decide_the_rest(self) -> None:
        """Let new people, each with a grant for one queue alone, decide all that is left."""
        desk = self.desk
        await desk.pass_time(timedelta(days=31))
        await apply_due(desk.db)
        while (await redrive(desk.db)).busy:
            pass
        for queue in desk.policy.queues:
            for number in range(20):
                who = await desk.person(f"{queue}-{number}", queue=queue)
                answer = await claim(desk.db, desk.policy, who, queue, new_key())
                if answer.lease is not None:
                    await decided_by(desk, who, answer.lease)

    async def is_done(self) -> None:
        """See that everything was decided, and that every trail holds."""
        desk = self.desk
        await desk.apply_all()
        assert await desk.value("SELECT count(*) FROM item WHERE state <> 'resolved'") == 0
        assert await desk.value("SELECT count(*) FROM pending_apply") == 0
        assert await desk.value("SELECT count(*) FROM item WHERE round = 2") == 1
        assert await desk.value("SELECT count(*) FROM content WHERE state = 'pending'") == 0
        await assert_every_chain_is_whole(desk.admin)


async def in_queues(desk: Desk) -> dict[str, int]:
    """Count what is undecided by queue."""
    rows = await desk.admin.fetch(
        "SELECT queue::text, count(*) AS n FROM item WHERE state <> 'resolved' GROUP BY 1"
    )
    return {row["queue"]: row["n"] for row in rows}

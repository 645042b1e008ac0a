"""A long life of queues: renamed, merged, drained, dropped and revived while people work."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import Random

import msgspec
import pytest

from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.refusals import InvalidField, QueueDraining, Refusal
from backend.services.apply import apply_due
from backend.services.claim import claim
from backend.services.lease import release
from backend.services.park import park
from backend.services.redrive import redrive
from backend.services.strays import rescue_strays
from backend.services.submit import submit_case
from shared.vocabulary import ParkReason, ReleaseReason, Role, Verdict
from shared.wire.item import ParkRequest
from shared.wire.queue import Lease, ReleaseRequest
from tests.support.desk import Desk, new_key
from tests.support.gateway import case
from tests.support.office import as_known_now, change, in_queues
from tests.support.trail import assert_every_chain_is_whole

STEPS = 100
NAMES = ("a", "b", "c", "d", "e")
HEAD = """
version = "{version}"
[routes]
default = "{default}"
[categories.hate]
severity = 60
low = 0.20
high = 0.95
[scorers.producer]
categories = ["hate"]
[reasons]
fine = {{ title = "Fine", verdicts = ["approve"] }}
gap = {{ title = "No rule", verdicts = ["escalate"] }}
"""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy of the walk says: the default queue, the one above all, and the others."""

    default: str = "a"
    above: str = "b"
    others: frozenset[str] = frozenset({"c"})
    draining: frozenset[str] = frozenset()
    formerly: tuple[tuple[str, str], ...] = ()

    @property
    def queues(self) -> frozenset[str]:
        return self.others | {self.default, self.above}

    def text(self, version: str) -> str:
        parts = [HEAD.format(version=version, default=self.default)]
        for name in sorted(self.queues):
            up = name != self.above
            said = '"approve", "escalate"' if up else '"approve"'
            parts.append(f'[queues.{name}]\ntitle = "{name}"\nverdicts = [{said}]')
            parts.append(f'escalation_queue = "{self.above}"' if up else "")
            parts.append("draining = true" if name in self.draining else "")
            old = ", ".join(f'"{was}"' for was, now in self.formerly if now == name)
            parts.append(f"formerly = [{old}]")
        return "\n".join(parts)

    def without(self, name: str, *, heir: str | None = None) -> Plan:
        """Leave a queue out, or give its place to another, which may be new."""
        default = heir if heir and name == self.default else self.default
        above = heir if heir and name == self.above else self.above
        queues = self.queues | ({heir} if heir else set())
        return Plan(
            default=default,
            above=above,
            others=queues - {name, default, above},
            draining=self.draining - {name, default, above},
            formerly=((name, heir),) if heir else (),
        )


def another(plan: Plan, dice: Random) -> Plan:
    """Do one thing to one queue."""
    name = dice.choice(sorted(plan.queues))
    unused = sorted(set(NAMES) - plan.queues)
    deed = dice.choice(["rename", "merge", "drop", "drain", "revive", "reopen"])
    plain = Plan(default=plan.default, above=plan.above, others=plan.others, draining=plan.draining)
    if deed == "rename" and unused:
        return plan.without(name, heir=dice.choice(unused))
    if deed == "merge" and name in plan.others:
        return plan.without(name, heir=dice.choice(sorted(plan.queues - {name})))
    if deed == "drop" and name in plan.others:
        return plan.without(name)
    if deed == "drain" and name in plan.others:
        return msgspec.structs.replace(plain, draining=plan.draining | {name})
    if deed == "revive" and unused:
        return msgspec.structs.replace(plain, others=plan.others | {dice.choice(unused)})
    return msgspec.structs.replace(plain, draining=frozenset())


class Walk:
    """People at work while a lead changes the queues; some processes hear of it late."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self.desk = desk
        self.dice = Random(seed)
        self.plan = Plan()
        self.versions = 0
        self.known: list[Policy] = []
        self.held: list[tuple[Identity, Lease]] = []
        self.met: Counter[str] = Counter()

    async def begin(self) -> None:
        self.producer = await self.desk.person("shop", Role.PRODUCER)
        await self._put(Plan())

    async def step(self) -> None:
        deed = self.dice.choice(
            [*[self.change] * 2, *[self.send] * 4, *[self.take] * 4, *[self.end] * 2, self.wait]
        )
        await deed()

    async def change(self) -> None:
        wanted = another(self.plan, self.dice)
        gone = self.plan.queues - wanted.queues - {old for old, _ in wanted.formerly}
        waiting = await in_queues(self.desk)
        refused = any(waiting.get(name) for name in gone)
        try:
            await self._put(wanted)
        except InvalidField:
            assert refused, "it was refused without need"
            self.met["refused"] += 1
        else:
            assert not refused, "undecided items were left behind"
            self.met["changed"] += 1

    async def send(self) -> None:
        policy = self.some_policy()
        queue = self.dice.choice(sorted(policy.queues))
        name = f"c-{self.met['sent']}"
        try:
            await submit_case(self.desk.db, policy, self.producer, queue, case(name, queue))
        except QueueDraining:
            self.met["draining"] += 1
        else:
            self.met["sent"] += 1
            self.met["stray"] += queue not in self.plan.queues

    async def take(self) -> None:
        policy = self.some_policy()
        queue = self.dice.choice(sorted(policy.queues))
        who = await self.desk.person(f"p-{self.met['asked']}", queue=queue)
        self.met["asked"] += 1
        answer = await claim(self.desk.db, policy, who, queue, new_key())
        if answer.lease is not None:
            self.held.append((who, answer.lease))

    async def end(self) -> None:
        if not self.held:
            return
        who, lease = self.held.pop(self.dice.randrange(len(self.held)))
        who = await as_known_now(self.desk, who)
        deed = self.dice.choice([self.escalate, self.park, self.release, self.approve])
        try:
            await deed(who, lease)
        except Refusal as refusal:
            self.met[f"said {refusal.code.value}"] += 1

    async def escalate(self, who: Identity, lease: Lease) -> None:
        await self.desk.decide(who, lease, Verdict.ESCALATE, reason="gap")

    async def approve(self, who: Identity, lease: Lease) -> None:
        await self.desk.decide(who, lease, reason="fine")

    async def park(self, who: Identity, lease: Lease) -> None:
        request = ParkRequest(lease_token=lease.lease_token, reason=ParkReason.AWAIT_DATE)
        await park(self.desk.db, self.desk.policy, who, lease.item_id, request)

    async def release(self, who: Identity, lease: Lease) -> None:
        request = ReleaseRequest(lease_token=lease.lease_token, reason=ReleaseReason.NEED_TIME)
        await release(self.desk.db, who, lease.item_id, request)

    async def wait(self) -> None:
        await self.desk.pass_time(timedelta(seconds=self.dice.choice([5, 60, 600])))
        for work in self.dice.sample([redrive, apply_due, rescue_strays], 2):
            await work(self.desk.db)

    def some_policy(self) -> Policy:
        """Return the policy in force, or the one before, which a process may still believe in."""
        return self.dice.choice(self.known[-2:])

    async def _put(self, plan: Plan) -> None:
        self.versions += 1
        await change(self.desk, plan.text(f"w-{self.versions}"))
        self.plan = plan
        self.known.append(self.desk.policy)


async def finish(walk: Walk) -> None:
    """Let everything come to its end by people who have a grant for one queue of today each."""
    desk = walk.desk
    number = 0
    while True:
        await desk.pass_time(timedelta(days=31))
        while await apply_due(desk.db) or (await redrive(desk.db)).busy:
            pass
        while await rescue_strays(desk.db):
            pass
        waiting = await in_queues(desk)
        if not waiting:
            return
        assert waiting.keys() <= walk.plan.queues, "out of reach"
        for queue in waiting:
            number += 1
            who = await desk.person(f"last-{number}", queue=queue)
            await walk.approve(who, await desk.lease(who, queue))


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(3, 8))]
)
async def test_whatever_happens_to_queues_everything_can_still_be_decided(
    desk: Desk, seed: int
) -> None:
    walk = Walk(desk, seed)
    await walk.begin()
    for _ in range(STEPS):
        await walk.step()
    # Every lease that lives is good for a verdict, whatever became of its queue.
    await rescue_strays(desk.db)
    for who, lease in walk.held:
        row = await desk.admin.fetchrow(
            "SELECT fence_token, lease_expires > clock() AS lives FROM item WHERE id = $1",
            int(lease.item_id),
        )
        assert row is not None
        if str(row["fence_token"]) == lease.lease_token and row["lives"]:
            walk.met["decided by its holder"] += 1
            await walk.approve(await as_known_now(desk, who), lease)
    await finish(walk)
    assert await desk.value("SELECT count(*) FROM pending_apply") == 0
    assert await desk.value("SELECT count(*) FROM content WHERE state <> 'allowed'") == 0
    assert await desk.value("SELECT count(*) FROM content") == walk.met["sent"]
    await assert_every_chain_is_whole(desk.admin)
    assert walk.met["changed"] >= 5, dict(walk.met)

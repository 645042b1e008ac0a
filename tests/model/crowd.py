"""Many clients at one queue at once, some of them cut off; each writes down what it saw."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import Any, TypeVar

import asyncpg
import msgspec

from backend.db.errors import ContentionError, OutcomeUnknownError, UnavailableError
from backend.domain.identity import Identity
from backend.domain.refusals import (
    EvidenceChanged,
    InvalidField,
    LeaseHeld,
    Refusal,
    VerdictConflict,
)
from backend.services.claim import claim
from backend.services.lease import release, renew
from backend.services.park import park
from backend.services.take_over import take_over
from backend.services.verdict import VerdictReply, verdict
from shared.vocabulary import ParkReason, ReleaseReason
from shared.wire.item import Parked, ParkRequest
from shared.wire.queue import (
    ClaimAnswer,
    Lease,
    ReleaseRequest,
    Renewed,
    RenewRequest,
    TakeOverRequest,
)
from tests.model.ground import REASONS
from tests.model.players import request_for
from tests.model.reference.records import Saying
from tests.model.register import Op
from tests.model.stage import saying
from tests.support.desk import Desk, new_key

T = TypeVar("T")
NOW = "SELECT extract(epoch FROM fencepost.clock())::float8"
SLEEP = 120
"""For how long a crowd parks, in seconds: longer than the clock may jump meanwhile and a minute."""
CUT_OFF = 0.15
"""The share of calls that are cut off."""
_BY_LOG = ("claim", "take_over", "revise")
_REFUSED = {VerdictConflict: "conflict", EvidenceChanged: "changed"}
NOT_DONE = (UnavailableError, ContentionError)


@dataclass
class Crowd:
    """What all clients share: the desk, the leases that were shown, and the history."""

    desk: Desk
    people: list[Identity]
    random: random.Random
    history: list[Op] = field(default_factory=list)
    shown: list[tuple[Lease, Identity]] = field(default_factory=list)
    revisions: dict[str, int] = field(default_factory=dict)
    """Which revision of the evidence each hash stands for."""
    sent: list[tuple[Identity, Saying]] = field(default_factory=list)
    spans: list[tuple[float, float]] = field(default_factory=list)
    """When each call began and was answered or cut off."""

    async def cut(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work, or cut it off at whatever await it has come to."""
        task = asyncio.ensure_future(work)
        try:
            if self.random.random() < CUT_OFF:
                await asyncio.wait([task], timeout=self.random.uniform(0, 0.02))
                task.cancel()
            return await task
        finally:
            task.cancel()


class Client:
    """One terminal; two of them may be one person's."""

    def __init__(self, crowd: Crowd, who: Identity, watch: asyncpg.Connection[Any]) -> None:
        self.crowd = crowd
        self.who = who
        self.watch = watch
        self.lease: Lease | None = None
        self.key = new_key()

    async def now(self) -> float:
        seen: float = await self.watch.fetchval(NOW)
        return seen

    async def work(self, times: int) -> None:
        for _ in range(times):
            if self.lease is None:
                deeds = [self.claim] * 4 + [self.claim_at_two_terminals] * 2
            else:
                deeds = [self.decide] * 4 + [self.renew, self.renew, self.release, self.forget]
                deeds += [self.claim, self.take_over, self.take_over, self.park]
            deeds += [self.misuse] if self.crowd.shown else []
            deeds += [self.repeat] if self.crowd.sent else []
            await self.crowd.random.choice(deeds)()

    async def call(self, op: Op, work: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
        """Do it, and write down what is known of it; the answer only if there was one."""
        op = replace(op, invoked=await self.now())
        try:
            answer = await self.crowd.cut(work())
        except (asyncio.CancelledError, OutcomeUnknownError):
            await self._note(replace(op, outcome="unknown", returned=inf))
        except LeaseHeld:
            self.key = new_key()
        except (*NOT_DONE, InvalidField):
            pass  # nothing happened; a time to park until says nothing of who holds the item
        except Refusal as refusal:
            outcome = _REFUSED.get(type(refusal), "refused")
            await self._note(replace(op, outcome=outcome, returned=await self.now()))
        else:
            await self._note(_told(replace(op, returned=await self.now()), answer))
            return answer
        return None

    async def _note(self, op: Op) -> None:
        self.crowd.spans.append((op.invoked, min(op.returned, await self.now())))
        if op.token or op.kind not in _BY_LOG:  # what these did without an answer, the log tells
            self.crowd.history.append(op)

    def op(self, kind: str, item: int = 0, token: str = "", **more: Any) -> Op:
        return Op(
            kind=kind, person=self.who.principal_id, item=item, token=token, invoked=0, **more
        )

    async def claim(self) -> None:
        queue = self.crowd.random.choice(["posts"] * 4 + ["cases"] * 3 + ["escalation"])
        desk, began = self.crowd.desk, await self.now()
        work = partial(claim, desk.db, desk.policy, self.who, queue, self.key)
        await self._took(began, await self.call(self.op("claim"), work))

    async def claim_at_two_terminals(self) -> None:
        async with watching(self.crowd.desk) as watch:
            await asyncio.gather(self.claim(), Client(self.crowd, self.who, watch).claim())

    async def _took(self, began: float, answer: ClaimAnswer | None) -> None:
        if answer is None or answer.lease is None:
            return
        self.key = new_key()
        await self._holds("claim", answer.lease, began)

    async def _holds(self, kind: str, lease: Lease, began: float) -> None:
        self.lease = lease
        self.crowd.shown.append((lease, self.who))
        revision: int = msgspec.json.decode(lease.evidence)["revision"]
        self.crowd.revisions[lease.evidence_hash] = revision
        op = self.op(kind, int(lease.item_id), lease.lease_token, revision=revision)
        lasts = lease.expires_in_ms / 1000
        self.crowd.history.append(
            replace(op, invoked=began, returned=await self.now(), lasts=lasts)
        )

    async def take_over(self) -> None:
        """Go on at another terminal."""
        desk, began = self.crowd.desk, await self.now()
        request = TakeOverRequest(claim_key=new_key())
        work = partial(take_over, desk.db, desk.policy, self.who, request)
        answer = await self.call(self.op("take_over"), work)
        if answer is not None and answer.lease is not None:
            await self._holds("take_over", answer.lease, began)

    async def park(self) -> None:
        lease, desk = self.lease, self.crowd.desk
        assert lease is not None
        self.lease = None
        until = datetime.fromtimestamp(await self.now() + SLEEP, UTC)
        request = ParkRequest(
            lease_token=lease.lease_token, reason=ParkReason.AWAIT_DATE, until=until
        )
        op = self.op("park", int(lease.item_id), lease.lease_token, lasts=SLEEP)
        await self.call(op, partial(park, desk.db, desk.policy, self.who, lease.item_id, request))

    async def decide(self) -> None:
        assert self.lease is not None
        said = self._saying(self.lease)
        self.lease = None
        if self.crowd.random.random() < 0.3:  # a double click
            await asyncio.gather(self.say(said), self._other_half(said))
        else:
            await self.say(said, then=self.crowd.random.random() < 0.4)

    async def _other_half(self, said: Saying) -> None:
        async with watching(self.crowd.desk) as watch:
            await Client(self.crowd, self.who, watch).say(said)

    def _saying(self, lease: Lease) -> Saying:
        shown = {
            "item": int(lease.item_id),
            "token": lease.lease_token,
            "evidence": lease.evidence_hash,
        }
        offered = [each.value for each in lease.verdicts if each.value in REASONS]
        return saying(shown, self.crowd.random.choice(offered))

    async def say(self, said: Saying, *, then: bool = False) -> None:
        desk, began = self.crowd.desk, await self.now()
        self.crowd.sent.append((self.who, said))
        op = self.op(
            "verdict",
            said.item,
            said.lease_token,
            verdict_token=said.verdict_token,
            body=said.verdict,
            revision=self.crowd.revisions[said.evidence],
        )
        request = request_for(said, new_key() if then else None)
        work = partial(verdict, desk.db, desk.policy, self.who, str(said.item), request)
        answer = await self.call(op, work)
        if answer is not None and then:
            await self._took(began, answer.answer.next)

    async def renew(self) -> None:
        lease, desk = self.lease, self.crowd.desk
        assert lease is not None
        op = self.op("renew", int(lease.item_id), lease.lease_token)
        request = RenewRequest(lease_token=lease.lease_token)
        await self.call(op, partial(renew, desk.db, desk.policy, self.who, lease.item_id, request))

    async def release(self) -> None:
        lease, desk = self.lease, self.crowd.desk
        assert lease is not None
        self.lease = None
        op = self.op("release", int(lease.item_id), lease.lease_token)
        reason = self.crowd.random.choice([ReleaseReason.TECH, ReleaseReason.NEED_TIME])
        request = ReleaseRequest(lease_token=lease.lease_token, reason=reason)
        await self.call(op, partial(release, desk.db, self.who, lease.item_id, request))

    async def forget(self) -> None:
        """Close the laptop: nobody hears of this lease again but by its running out."""
        self.lease = None

    async def misuse(self) -> None:
        """Decide by any token that was ever shown to anybody."""
        lease, _ = self.crowd.random.choice(self.crowd.shown)
        await self.say(self._saying(lease))

    async def repeat(self) -> None:
        """Send a verdict of this person again: as it was, or changed."""
        own = [said for who, said in self.crowd.sent if who is self.who]
        if own:
            said = self.crowd.random.choice(own)
            if self.crowd.random.random() < 0.2:
                said = replace(said, verdict="limit", reason="mild")
            await self.say(said)


def _told(op: Op, answer: object) -> Op:
    match answer:
        case VerdictReply():
            return replace(op, decision=int(answer.answer.decision.decision_id))
        case Renewed():
            return replace(op, lasts=answer.expires_in_ms / 1000)
        case Parked():
            return replace(op, lasts=answer.wake_at.timestamp() - op.returned)
        case _:
            return op


@contextlib.asynccontextmanager
async def watching(desk: Desk) -> AsyncIterator[asyncpg.Connection[Any]]:
    """Open a connection of one's own, for nothing but to read the database's clock."""
    connection = await asyncpg.connect(desk.db.url)
    try:
        yield connection
    finally:
        await connection.close()

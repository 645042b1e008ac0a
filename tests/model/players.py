"""What people and workers do at the real desk, told in the words of the model."""

from __future__ import annotations

from backend.domain.identity import Identity
from backend.services.apply import apply_due
from backend.services.claim import claim, my_lease, queue_view
from backend.services.claim_any import claim_any
from backend.services.lease import release, renew
from backend.services.park import park
from backend.services.redrive import redrive
from backend.services.take_over import take_over
from backend.services.verdict import verdict
from shared.vocabulary import ParkReason, ReleaseReason, Verdict
from shared.wire.item import ParkRequest
from shared.wire.queue import (
    ClaimAnyRequest,
    MyLease,
    ReleaseRequest,
    RenewRequest,
    TakeOverRequest,
    VerdictRequest,
)
from tests.model import told
from tests.model.reference.records import Parking, Saying, Told
from tests.model.told import refusable, seconds
from tests.support.desk import Desk


class Players:
    """The reviewers of a desk, and the house."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def claim(self, who: Identity, queue: str, key: str, terminal: str | None) -> Told:
        db, policy = self.desk.db, self.desk.policy
        answer = await refusable(claim(db, policy, who, queue, key, terminal=terminal))
        return answer if isinstance(answer, Told) else told.claimed(answer)

    async def claim_any(
        self, who: Identity, queues: tuple[str, ...] | None, key: str, terminal: str | None
    ) -> Told:
        request = ClaimAnyRequest(claim_key=key, queues=queues, terminal=terminal)
        answer = await refusable(claim_any(self.desk.db, self.desk.policy, who, request))
        return answer if isinstance(answer, Told) else told.claimed_any(answer)

    async def mine(self, who: Identity) -> Told:
        return _held(await my_lease(self.desk.db, self.desk.policy, who))

    async def take_over(self, who: Identity, key: str, terminal: str | None) -> Told:
        request = TakeOverRequest(claim_key=key, terminal=terminal)
        return _held(await take_over(self.desk.db, self.desk.policy, who, request))

    async def figures(self, who: Identity, queue: str) -> Told:
        view = await refusable(queue_view(self.desk.db, self.desk.policy, who, queue))
        return view if isinstance(view, Told) else Told("nothing", told.figures(view.figures))

    async def renew(self, who: Identity, item: int, token: str) -> Told:
        request = RenewRequest(lease_token=token)
        answer = await refusable(renew(self.desk.db, self.desk.policy, who, str(item), request))
        if isinstance(answer, Told):
            return answer
        facts = {"left": seconds(answer.expires_in_ms), "capped": answer.capped}
        return Told("renewed", facts)

    async def release(self, who: Identity, item: int, token: str, reason: str) -> Told:
        request = ReleaseRequest(lease_token=token, reason=ReleaseReason(reason))
        answer = await refusable(release(self.desk.db, who, str(item), request))
        if isinstance(answer, Told):
            return answer
        return Told("released", {"item": int(answer.item_id)})

    async def park(self, who: Identity, item: int, token: str, asked: Parking) -> Told:
        request = ParkRequest(
            lease_token=token,
            reason=ParkReason(asked.reason),
            until=None if asked.until is None else told.date(asked.until),
            question=asked.text,
        )
        answer = await refusable(park(self.desk.db, self.desk.policy, who, str(item), request))
        return answer if isinstance(answer, Told) else told.parked(answer)

    async def verdict(
        self, who: Identity, said: Saying, claim_key: str | None
    ) -> tuple[Told, Told | None]:
        """Say it; return what was told of the verdict, and of the next item."""
        request = request_for(said, claim_key)
        db, policy = self.desk.db, self.desk.policy
        answer = await refusable(verdict(db, policy, who, str(said.item), request))
        if isinstance(answer, Told):
            return answer, None
        following = answer.answer.next
        return told.decided(answer), None if following is None else told.claimed(following)

    async def redrive(self) -> Told:
        report = await redrive(self.desk.db)
        facts = {
            "given_back": report.given_back,
            "woken": report.woken,
            "escalated": report.escalated,
            "stuck": report.stuck,
        }
        return Told("redriven", facts)

    async def apply(self) -> Told:
        return Told("applied", {"count": await apply_due(self.desk.db)})


def _held(held: MyLease) -> Told:
    return Told("nothing", {}) if held.lease is None else told.shown(held.lease)


def request_for(said: Saying, claim_key: str | None = None) -> VerdictRequest:
    return VerdictRequest(
        lease_token=said.lease_token,
        verdict_token=said.verdict_token,
        evidence_hash=said.evidence,
        verdict=Verdict(said.verdict),
        reason=said.reason,
        note=said.note,
        claim_next=claim_key,
    )

"""The desk between screens and server: calls go out, events of the session come back.

Screens see nouns and events, never a status code. A verdict is written to the journal before its
first byte leaves, and sent with the same token until the server has answered for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import msgspec

from shared.client import ClientError, FencepostClient, Refused
from shared.client.retry import waits
from shared.evidence import EVIDENCE_FORMAT, open_evidence
from shared.problems import Problem, ProblemCode
from shared.vocabulary import ReleaseReason
from shared.wire.queue import (
    ClaimAnswer,
    ClaimRequest,
    Lease,
    Me,
    ReleaseRequest,
    RenewRequest,
)
from tui.clock import elapsed
from tui.journal import Journal
from tui.state.countdown import Renewal, from_answer
from tui.state.events import (
    Event,
    EvidenceMoved,
    GivenBack,
    Leased,
    LeaseRenewed,
    LeaseStale,
    NothingFree,
    NotProven,
    NotRecorded,
    Recorded,
    Troubled,
)
from tui.state.held import Held, StaleFacts, Why
from tui.state.pending import Draft, Pending

Arrival = Leased | NotProven | NothingFree
Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]
_UNKNOWN = "unknown"


class SignInRefusedError(Exception):
    """The server knows neither the key nor its owner; the message says so in one line."""


class Desk:
    """All that a reviewer's screen asks of the server; `client` should try each call once."""

    def __init__(
        self,
        client: FencepostClient,
        journal: Journal,
        now: Clock = elapsed,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.client = client
        self.journal = journal
        self.now = now
        self._sleep = sleep

    async def me(self) -> Me:
        """Return who I am and where I may work. Raises SignInRefusedError or ClientError."""
        try:
            return await self.client.me()
        except Refused as error:
            if error.code in (ProblemCode.UNAUTHENTICATED, ProblemCode.FORBIDDEN):
                raise SignInRefusedError(words_of(error)) from None
            raise

    async def sign_in(self) -> AsyncIterator[Me | Troubled]:
        """Yield what goes wrong until the server answers, and then who I am."""
        for wait in waits():
            try:
                yield await self.me()
            except ClientError as error:
                yield Troubled(self.now(), words_of(error))
                await self._sleep(max(wait, error.retry_after or 0))
            else:
                return

    async def mine(self) -> Event | None:
        """Return the lease that is still mine as an event. Raises ClientError."""
        sent = self.now()
        lease = (await self.client.my_lease()).lease
        return None if lease is None else self._leased(lease, sent, resumed=True)

    async def claim(self, queue: str, claim_key: str) -> AsyncIterator[Event]:
        """Ask for an item until there is an answer; the last event is that answer."""
        for wait in waits():
            try:
                yield await self._claim(queue, claim_key)
            except ClientError as error:
                if not error.worth_retrying:
                    yield NothingFree(None, Why.REFUSED, words_of(error))
                    return
                yield Troubled(self.now(), words_of(error))
                await self._sleep(max(wait, error.retry_after or 0))
            else:
                return

    async def _claim(self, queue: str, claim_key: str) -> Event:
        sent = self.now()
        try:
            answer = await self.client.claim(queue, ClaimRequest(claim_key=claim_key))
        except Refused as error:
            if error.code is not ProblemCode.LEASE_HELD:
                raise
            return await self.mine() or NothingFree(None)
        return self._arrived(answer, sent)

    async def send(self, pending: Pending) -> AsyncIterator[Event]:
        """Send a verdict until its outcome is known; yield each failed try and then the outcome."""
        try:
            await asyncio.to_thread(self.journal.keep_verdict, pending)
        except OSError as error:
            yield NotRecorded(f"Not sent: the verdict can't be saved here ({error.strerror})")
            return
        for wait in waits():
            sent = self.now()
            try:
                reply = await self.client.verdict(pending.item_id, pending.request, attempts=1)
            except ClientError as error:
                if (outcome := await self._refused(error)) is not None:
                    await self._settled(pending)
                    yield outcome
                    return
                yield Troubled(self.now(), words_of(error))
                await self._sleep(max(wait, error.retry_after or 0))
                continue
            await self._settled(pending)
            after = reply.answer.next
            arrived = None if after is None else self._arrived(after, sent)
            yield Recorded(reply.answer.decision, reply.replayed, arrived)
            return

    async def _settled(self, pending: Pending) -> None:
        token = pending.request.verdict_token
        await asyncio.to_thread(self.journal.drop_verdict, token)
        await asyncio.to_thread(self.journal.drop_note)

    async def _refused(self, error: ClientError) -> Event | None:
        """Return what a refusal settles, or None if the outcome stays unknown."""
        if error.worth_retrying or not isinstance(error, Refused):
            return None
        if error.code is ProblemCode.UNAUTHENTICATED:
            return None
        if error.code is ProblemCode.STALE_LEASE:
            return LeaseStale(_facts(error.problem))
        if error.code is ProblemCode.EVIDENCE_CHANGED:
            return EvidenceMoved(await self._fresh())
        return NotRecorded(f"Not recorded: {words_of(error)}")

    async def _fresh(self) -> Held | None:
        """Return the item with its new evidence, if it is still mine and can be had."""
        try:
            event = await self.mine()
        except ClientError:
            return None
        return event.held if isinstance(event, Leased) else None

    async def renew(self, held: Held) -> Event:
        """Ask for more time. Raises ClientError."""
        sent = self.now()
        lease = held.lease
        request = RenewRequest(lease_token=lease.lease_token)
        answer = await self.client.renew(lease.item_id, request)
        now = self.now()
        countdown = from_answer(answer.expires_in_ms, lease.ttl_ms, sent, now)
        return LeaseRenewed(lease.lease_token, countdown, answer.capped, now)

    async def release(self, lease: Lease, reason: ReleaseReason) -> Event:
        """Give the item back; a lease that is gone already counts as given back."""
        request = ReleaseRequest(lease_token=lease.lease_token, reason=reason)
        why = Why.DISTRESS if reason is ReleaseReason.DISTRESS else Why.RELEASED
        try:
            await self.client.release(lease.item_id, request)
        except Refused as error:
            if error.code is not ProblemCode.STALE_LEASE:
                return NotRecorded(f"Not given back: {words_of(error)}")
        except ClientError as error:
            return NotRecorded(f"Not given back: {words_of(error)}; it runs out by itself")
        await asyncio.to_thread(self.journal.drop_note)
        return GivenBack(why)

    async def keep_note(self, lease: Lease, note: str) -> None:
        """Write the note down, so that a crash does not take it. Raises OSError."""
        draft = Draft(item_id=lease.item_id, lease_token=lease.lease_token, note=note)
        await asyncio.to_thread(self.journal.keep_note, draft)

    def _arrived(self, answer: ClaimAnswer, sent: float) -> Arrival:
        if answer.lease is None:
            return NothingFree(answer.figures)
        event = self._leased(answer.lease, sent, resumed=False)
        return replace(event, figures=answer.figures) if isinstance(event, Leased) else event

    def _leased(self, lease: Lease, sent: float, *, resumed: bool) -> Leased | NotProven:
        """Prove the evidence against its hash before anything of it is shown."""
        now = self.now()
        try:
            evidence = open_evidence(lease.evidence, lease.evidence_hash)
        except (ValueError, msgspec.DecodeError):
            return NotProven(lease, "What arrived is not what the server hashed. It is not shown.")
        if evidence.format != EVIDENCE_FORMAT:
            return NotProven(lease, f"Evidence of format {evidence.format} is newer than this.")
        countdown = from_answer(lease.expires_in_ms, lease.ttl_ms, sent, now)
        held = Held(lease, evidence, countdown, Renewal(renewed_at=now), resumed)
        return Leased(held, self.journal.note(lease.item_id))


def words_of(error: ClientError) -> str:
    """Return a failure in one line for a person."""
    if isinstance(error, Refused):
        detail = f" ({error.problem.detail})" if error.problem.detail else ""
        return f"{error.problem.title}{detail}"
    return str(error)


def _facts(problem: Problem) -> StaleFacts:
    extra = problem.extra
    return StaleFacts(
        now=str(extra.get("now") or _UNKNOWN),
        since=_text(extra.get("since")),
        holder=_text(extra.get("holder")),
        can_reclaim=extra.get("can_reclaim") is True,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

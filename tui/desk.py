"""The desk between screens and server: calls go out, events of the session come back.

Screens see nouns and events, never a status code. A verdict is written to the journal before its
first byte leaves, and sent with the same token until the server has answered for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from shared.client import ClientError, Refused
from shared.client.retry import waits
from shared.problems import ProblemCode
from shared.vocabulary import ItemNow
from shared.wire.queue import ClaimAnswer, ClaimRequest, Lease, Me
from tui.answers import Arrival, change_told, stale_facts, words_of
from tui.leases import LeaseDesk
from tui.state.events import (
    Event,
    EvidenceMoved,
    HeldElsewhere,
    Leased,
    LeaseStale,
    NothingFree,
    NotRecorded,
    Recorded,
    Troubled,
)
from tui.state.held import Held, Why
from tui.state.pending import Pending


class SignInRefusedError(Exception):
    """The server knows neither the key nor its owner; the message says so in one line."""


class Desk(LeaseDesk):
    """All that a reviewer's screen asks of the server."""

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
        request = ClaimRequest(claim_key=claim_key, terminal=self.terminal)
        try:
            answer = await self.client.claim(queue, request)
        except Refused as error:
            if error.code is not ProblemCode.LEASE_HELD:
                raise
            mine = await self.mine()
            return mine or NothingFree(None, Why.REFUSED, "Your other lease ended just now.")
        return self._came(answer, sent)

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
                    there = isinstance(outcome, LeaseStale) and outcome.facts.goes_on
                    await self._settled(pending, forget=not there)
                    yield outcome
                    return
                yield Troubled(self.now(), words_of(error))
                await self._sleep(max(wait, error.retry_after or 0))
                continue
            await self._settled(pending)
            after = reply.answer.next
            came = None if after is None else self._came(after, sent)
            yield Recorded(reply.answer.decision, reply.replayed, came)
            return

    async def _settled(self, pending: Pending, *, forget: bool = True) -> None:
        """Let go of the verdict, and of what was typed unless another terminal goes on with it."""
        token = pending.request.verdict_token
        await asyncio.to_thread(self.journal.drop_verdict, token)
        if forget:
            await self.drop_draft()

    async def _there(self) -> Lease | None:
        """Return the lease that another terminal of mine has, if that can be had."""
        try:
            event = await self.mine()
        except ClientError:
            return None
        return event.lease if isinstance(event, HeldElsewhere) else None

    async def _refused(self, error: ClientError) -> Event | None:
        """Return what a refusal settles, or None if the outcome stays unknown."""
        if error.worth_retrying or not isinstance(error, Refused):
            return None
        if error.code is ProblemCode.UNAUTHENTICATED:
            return None
        if error.code is ProblemCode.STALE_LEASE:
            facts = stale_facts(error.problem)
            there = await self._there() if facts.now == ItemNow.TAKEN_OVER else None
            note = self.note_there(there) if there is not None else ""
            return LeaseStale(replace(facts, goes_on=note))
        if error.code is ProblemCode.EVIDENCE_CHANGED:
            return EvidenceMoved(await self._fresh(), change_told(error.problem))
        return NotRecorded(f"Not recorded: {words_of(error)}")

    async def _fresh(self) -> Held | None:
        """Return the item with its new evidence, if it is still mine and can be had."""
        try:
            event = await self.mine()
        except ClientError:
            return None
        return event.held if isinstance(event, Leased) else None

    def _came(self, answer: ClaimAnswer, sent: float) -> Arrival:
        if answer.lease is None:
            return NothingFree(answer.figures)
        event = self._opened(answer.lease, sent, resumed=False)
        return replace(event, figures=answer.figures) if isinstance(event, Leased) else event

"""What is asked of the server about the lease in hand: is it mine, more time, away with it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from shared.client import ClientError, FencepostClient, Refused
from shared.client.retry import waits
from shared.problems import ProblemCode
from shared.vocabulary import ItemNow, ReleaseReason
from shared.wire.item import ParkRequest
from shared.wire.live import LiveEvent
from shared.wire.queue import Lease, ReleaseRequest, RenewRequest, TakeOverRequest
from tui.answers import UNKNOWN, Moment, arrived, stale_facts, words_of
from tui.clock import elapsed
from tui.journal import Journal
from tui.seat import seated
from tui.shelf import NotProvenError, Shelf, home_words
from tui.state.countdown import from_answer
from tui.state.events import (
    Event,
    GivenBack,
    HeldElsewhere,
    Leased,
    LeaseRenewed,
    Lost,
    NothingFree,
    NotProven,
    NotRecorded,
    ParkedAway,
    Refreshed,
    Troubled,
)
from tui.state.held import Held, StaleFacts, Why
from tui.state.parking import Meant
from tui.state.pending import Draft

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")
_TRIES = 3
"""How often a deed that ends a lease is sent, while no answer comes; it replays."""
_GONE = "It is not yours any more: it was decided or given back in the other terminal."


class LeaseDesk:
    """The calls about one lease; `client` should try each call once."""

    def __init__(
        self,
        client: FencepostClient,
        journal: Journal,
        now: Clock = elapsed,
        sleep: Sleep = asyncio.sleep,
        terminal: str | None = None,
    ) -> None:
        self.client = client
        self.journal = journal
        self.now = now
        self.terminal = terminal
        self._sleep = sleep
        self.shelf = Shelf(journal.folder, terminal)
        self._paper = asyncio.Lock()
        """Held while the draft is written or forgotten: the later of the two has the last word."""

    def live(self) -> AsyncIterator[LiveEvent]:
        """Yield where to look again, for ever. Raises Refused if this key may not listen."""
        return self.client.live()

    async def mine(self) -> Leased | NotProven | HeldElsewhere | None:
        """Return the lease that is still mine as an event. Raises ClientError."""
        sent = self.now()
        lease = (await self.client.my_lease()).lease
        return None if lease is None else self._opened(lease, sent, resumed=True)

    async def look(self, lease: Lease) -> Event:
        """Return what holds now of a lease that was mine. Raises ClientError."""
        found = await self.mine()
        match found:
            case Leased(held) if held.lease.lease_token == lease.lease_token:
                return Refreshed(held)
            case NotProven(other) if other.lease_token == lease.lease_token:
                return found
            case HeldElsewhere(there) if there.item_id == lease.item_id:
                return self._gone_there(await self.fate(lease), there)
            case _:
                return await self.fate(lease)

    def _gone_there(self, event: Event, there: Lease) -> Event:
        """Add what note of mine the terminal that has the item now took up with it."""
        if isinstance(event, Lost) and event.facts.now == ItemNow.TAKEN_OVER:
            return replace(event, facts=replace(event.facts, goes_on=self.note_there(there)))
        return event

    def note_there(self, there: Lease) -> str:
        """Return the note that my other terminal reads from the same file; empty if it does not."""
        beside = seated(self.journal.folder, there.terminal or "")
        return self.journal.note(there.item_id) if beside else ""

    async def look_elsewhere(self) -> Event:
        """Return what holds now of the item in another terminal. Raises ClientError."""
        return await self.mine() or NothingFree(None, Why.REFUSED, _GONE)

    async def fate(self, lease: Lease) -> Event:
        """Ask for more time; where there is none to have, return what became of the lease.

        A token that died can't come to life by being shown. Raises ClientError.
        """
        try:
            return await self._renewed(lease)
        except Refused as error:
            if error.code is ProblemCode.STALE_LEASE:
                return Lost(lease.lease_token, stale_facts(error.problem))
            if error.worth_retrying or error.code is ProblemCode.UNAUTHENTICATED:
                raise
            return Lost(lease.lease_token, StaleFacts(now=UNKNOWN))

    async def take_over(self, claim_key: str) -> AsyncIterator[Event]:
        """Bring my item to this terminal; the last event is the answer."""
        request = TakeOverRequest(claim_key=claim_key, terminal=self.terminal)
        for wait in waits():
            sent = self.now()
            try:
                lease = (await self.client.take_over(request)).lease
            except ClientError as error:
                if not error.worth_retrying:
                    yield NothingFree(None, Why.REFUSED, words_of(error))
                    return
                yield Troubled(self.now(), words_of(error))
                await self._sleep(max(wait, error.retry_after or 0))
                continue
            yield self._brought(lease, sent)
            return

    def _brought(self, lease: Lease | None, sent: float) -> Event:
        if lease is None:
            return NothingFree(None, Why.REFUSED, _GONE)
        event = self._opened(lease, sent, resumed=True)
        if isinstance(event, Leased):
            return replace(event, held=replace(event.held, taken_over=True))
        return event

    async def _renewed(self, lease: Lease) -> LeaseRenewed:
        sent = self.now()
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
            await self._insist(lambda: self.client.release(lease.item_id, request))
        except Refused as error:
            if error.code is not ProblemCode.STALE_LEASE:
                return NotRecorded(f"Not given back: {words_of(error)}")
            if stale_facts(error.problem).now == ItemNow.TAKEN_OVER:
                return GivenBack(why)  # what was typed is the other terminal's now
        except ClientError as error:
            return NotRecorded(f"Not given back: {words_of(error)}; it runs out by itself")
        await self.drop_draft()
        return GivenBack(why)

    async def park(self, lease: Lease, meant: Meant, note: str = "") -> Event:
        """Set the item aside; a lease that ran out and is still mine is renewed first.

        A question is written down before it leaves, beside the `note` of the item.
        """
        request = ParkRequest(
            lease_token=lease.lease_token,
            reason=meant.reason,
            until=meant.until,
            question=meant.question,
        )
        try:
            if meant.question:
                await self.keep_draft(
                    Draft(
                        item_id=lease.item_id,
                        lease_token=lease.lease_token,
                        note=note,
                        question=meant.question,
                    )
                )
            parked = await self._insist(lambda: self._park(lease, request))
        except Refused as error:
            if error.code is ProblemCode.STALE_LEASE:
                return Lost(lease.lease_token, stale_facts(error.problem))
            return NotRecorded(f"Not parked: {words_of(error)}")
        except OSError as error:
            return NotRecorded(f"Not parked: the question can't be saved here ({error.strerror})")
        except ClientError as error:
            return NotRecorded(f"Parked or not is unknown: {words_of(error)}; P sends it again")
        await self.drop_draft()
        return ParkedAway(lease.content_id, parked, asked=bool(meant.question))

    async def _park(self, lease: Lease, request: ParkRequest) -> datetime:
        try:
            return (await self.client.park(lease.item_id, request)).wake_at
        except Refused as error:
            if not _ran_out(error):
                raise
        await self._renewed(lease)
        return (await self.client.park(lease.item_id, request)).wake_at

    async def _insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """Repeat a deed that replays, a few times. Raises ClientError."""
        pauses = waits()
        for _ in range(_TRIES - 1):
            try:
                return await call()
            except ClientError as error:
                if not error.worth_retrying:
                    raise
                await self._sleep(max(next(pauses), error.retry_after or 0))
        return await call()

    async def keep_draft(self, draft: Draft) -> None:
        """Write down what was typed, so that a crash does not take it. Raises OSError."""
        async with self._paper:
            await asyncio.to_thread(self.journal.keep_note, draft)

    async def drop_draft(self) -> None:
        """Forget what was typed: it was sent, or its item is gone. Raises OSError."""
        async with self._paper:
            await asyncio.to_thread(self.journal.drop_note)

    async def save_attachments(self, held: Held) -> str:
        """Save the attachments of the item in hand; return in words what came of it."""
        lease, digests = held.lease, held.evidence.attachments
        try:
            for digest in digests:
                data = await self.client.read_blob(lease.item_id, digest, lease.lease_token)
                await asyncio.to_thread(self.shelf.save, digest, data)
        except ClientError as error:
            return f"Not saved: {words_of(error)}"
        except NotProvenError:
            return "Not saved: what arrived is not what the evidence names. It was thrown away."
        except OSError as error:
            return f"Not saved: {error.strerror}"
        return f"{len(digests)} saved in {home_words(self.shelf.folder)}, until this item goes"

    def _opened(
        self, lease: Lease, sent: float, *, resumed: bool
    ) -> Leased | NotProven | HeldElsewhere:
        at = Moment(sent, self.now(), self.terminal)
        return arrived(lease, at, self.journal.note(lease.item_id), resumed=resumed)


def new_key() -> str:
    """Return a key by which a call is known when it is repeated."""
    return str(uuid.uuid4())


def _ran_out(error: Refused) -> bool:
    """Tell whether the token is still good and only its time is over."""
    facts = stale_facts(error.problem)
    return error.code is ProblemCode.STALE_LEASE and facts.now == ItemNow.FREE and facts.can_reclaim

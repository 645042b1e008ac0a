"""The work that a reviewer's screen starts in the background.

A worker asks the desk and posts what happened; it touches no widget.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import msgspec

from shared.client import ClientError
from shared.vocabulary import ReleaseReason
from shared.wire.queue import Lease, VerdictRequest
from tui.answers import words_of
from tui.background import begin
from tui.desk import SignInRefusedError
from tui.leases import new_key
from tui.messages import Happened
from tui.screens.bench import Bench
from tui.state.events import ClaimSent, Event, NotRecorded, TakeOverSent, Troubled, VerdictMeant
from tui.state.hand import Send
from tui.state.held import Held, Trouble, Why
from tui.state.pending import RENDERER, Pending
from tui.state.session import Changed, Claiming, Elsewhere, Idle, Reviewing

_DAY_MS = 86_400_000
KEY_REFUSED = 77


class Workbench(Bench):
    """Adds the workers."""

    def open_queues(self) -> None:
        """Ask in which queue to work."""
        raise NotImplementedError

    async def _post_all(self, events: AsyncIterator[Event]) -> None:
        async for event in events:
            self.post_message(Happened(event))

    async def sign_in(self) -> None:
        """Find out who I am, send what an earlier run left, and take up what is still mine."""
        try:
            await self._find_out()
        except SignInRefusedError as error:
            self.app.exit(f"fencepost: the server refuses this key: {error}", KEY_REFUSED)
            return
        left_over = self.desk.journal.verdict()
        if left_over is not None:
            self.take(VerdictMeant(left_over, self.desk.now()))
            async for event in self.desk.send(left_over):
                self.take(event)
        if isinstance(self.session, Idle) and self.session.why in (Why.START, Why.PAUSED):
            await self.resume()

    async def _find_out(self) -> None:
        async for found in self.desk.sign_in():
            if isinstance(found, Troubled):
                since = self.sign_in_trouble.since if self.sign_in_trouble else found.at
                self.sign_in_trouble, self.live = Trouble(since, found.words), False
            else:
                self.me, self.sign_in_trouble, self.live = found, None, True
                self.me_at = self.desk.now()
            self.repaint()

    async def resume(self) -> None:
        """Take up the lease that is still mine; without one, claim or ask for a queue."""
        try:
            event = await self.desk.mine()
        except ClientError:
            event = None  # a claim is answered by what is held already, or says what is wrong
        if event is not None:
            self.take(event)
        elif self.queue_name or self._only_queue():
            self.start_claim()
        else:
            self.open_queues()

    def _only_queue(self) -> bool:
        """Choose the queue where there is no choice."""
        if self.me is None or len(self.me.queues) != 1:
            return False
        self.queue_name = self.me.queues[0].queue
        return True

    def start_claim(self) -> None:
        """Ask for the next item of the queue."""
        key = new_key()
        self.take(ClaimSent(key, self.desk.now()))
        if isinstance(self.session, Claiming) and self.session.claim_key == key:
            claims = self.desk.claim(self.queue_name, key)
            begin(self, partial(self._post_all, claims), "main")

    def start_take_over(self) -> None:
        """Bring the item that I hold in another terminal to this one."""
        if isinstance(self.session, Elsewhere):
            key = new_key()
            self.take(TakeOverSent(key, self.desk.now()))
            begin(self, partial(self._post_all, self.desk.take_over(key)), "main")

    def start_verdict(self, meant: Send) -> None:
        """Send a verdict, and ask for the next item in the same request unless pausing."""
        if not isinstance(self.session, Reviewing):
            return
        self._send(self._pending(self.session, meant))

    def send_again(self, changed: Changed) -> None:
        """Send the verdict that was refused, bound to the evidence as it is now.

        What was seen of it is not known any more where the item itself changed.
        """
        if changed.pending is None or changed.fresh is None:
            return
        lease, was = changed.fresh.lease, changed.old
        same = was is not None and was.evidence.content == changed.fresh.evidence.content
        request = changed.pending.request
        self._send(
            msgspec.structs.replace(
                changed.pending,
                request=msgspec.structs.replace(
                    request,
                    lease_token=lease.lease_token,
                    evidence_hash=lease.evidence_hash,
                    verdict_token=new_key(),
                    seen=request.seen if same else None,
                    claim_next=None if self.paused else new_key(),
                    terminal=self.desk.terminal,
                ),
            )
        )

    def _send(self, pending: Pending) -> None:
        self.take(VerdictMeant(pending, self.desk.now()))
        begin(self, partial(self._post_all, self.desk.send(pending)), "main")

    def _pending(self, session: Reviewing, meant: Send) -> Pending:
        lease = session.held.lease
        dwell = round((self.desk.now() - self.shown_at) * 1000)
        request = VerdictRequest(
            lease_token=lease.lease_token,
            verdict_token=new_key(),
            evidence_hash=lease.evidence_hash,
            verdict=meant.verdict,
            reason=meant.reason,
            note=session.note or None,
            seen=self.seen(),
            dwell_ms=min(max(dwell, 0), _DAY_MS),
            renderer=RENDERER,
            claim_next=None if self.paused else new_key(),
            terminal=self.desk.terminal,
        )
        return Pending(
            item_id=lease.item_id,
            content_id=lease.content_id,
            queue=lease.queue,
            request=request,
        )

    def start_release(self, lease: Lease, reason: ReleaseReason) -> None:
        """Give the item back."""
        self.left.append((lease.queue, self.desk.now()))
        self.part(lease, partial(self.desk.release, lease, reason))

    def part(self, lease: Lease, deed: Callable[[], Awaitable[Event]]) -> None:
        """Do what ends the lease; until it is answered, its end is not news."""
        self.parting = lease.lease_token

        async def work() -> None:
            self.post_message(Happened(await deed(), parted=True))

        begin(self, work, "main")

    def start_renewal(self, held: Held) -> None:
        """Ask for more time; a lease that is gone is told of as lost."""

        async def work() -> None:
            try:
                event = await self.desk.fate(held.lease)
            except ClientError as error:
                event = NotRecorded(f"Not renewed: {words_of(error)}")
            self.post_message(Happened(event))

        begin(self, work, "renew")

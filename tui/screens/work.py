"""The work that a reviewer's screen starts in the background.

A worker asks the desk and posts what happened; it touches no widget.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from functools import partial

from shared.client import ClientError, Refused
from shared.problems import ProblemCode
from shared.vocabulary import ReleaseReason
from shared.wire.queue import Lease, VerdictRequest
from tui.background import begin
from tui.desk import SignInRefusedError, words_of
from tui.messages import Happened
from tui.screens.bench import Bench
from tui.state.events import ClaimSent, Event, GivenBack, NotRecorded, Troubled, VerdictMeant
from tui.state.hand import Send
from tui.state.held import Held, Trouble, Why
from tui.state.pending import RENDERER, Pending
from tui.state.session import Claiming, Idle, Reviewing, Submitting

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
            self.repaint()

    async def resume(self) -> None:
        """Take up the lease that is still mine; without one, claim or ask for a queue."""
        try:
            event = await self.desk.mine()
        except ClientError as error:
            event = NotRecorded(words_of(error))
        if event is not None and not isinstance(event, NotRecorded):
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
        key = str(uuid.uuid4())
        self.take(ClaimSent(key, self.desk.now()))
        if isinstance(self.session, Claiming) and self.session.claim_key == key:
            claims = self.desk.claim(self.queue_name, key)
            begin(self, partial(self._post_all, claims), "main")

    def start_verdict(self, meant: Send) -> None:
        """Send a verdict, and ask for the next item in the same request unless pausing."""
        if not isinstance(self.session, Reviewing):
            return
        pending = self._pending(self.session, meant)
        self.take(VerdictMeant(pending, self.desk.now()))
        tries = self.desk.send(pending)
        begin(self, partial(self._post_all, tries), "main")

    def _pending(self, session: Reviewing, meant: Send) -> Pending:
        lease = session.held.lease
        dwell = round((self.desk.now() - self.shown_at) * 1000)
        request = VerdictRequest(
            lease_token=lease.lease_token,
            verdict_token=str(uuid.uuid4()),
            evidence_hash=lease.evidence_hash,
            verdict=meant.verdict,
            reason=meant.reason,
            note=session.note or None,
            seen=self.seen(),
            dwell_ms=min(max(dwell, 0), _DAY_MS),
            renderer=RENDERER,
            claim_next=None if self.paused else str(uuid.uuid4()),
        )
        return Pending(
            item_id=lease.item_id,
            content_id=lease.content_id,
            queue=lease.queue,
            request=request,
        )

    def start_release(self, lease: Lease, reason: ReleaseReason) -> None:
        """Give the item back."""

        async def work() -> None:
            self.post_message(Happened(await self.desk.release(lease, reason)))

        begin(self, work, "main")

    def start_renewal(self, held: Held) -> None:
        """Ask for more time; a refusal is said, and changes nothing else."""

        async def work() -> None:
            try:
                event = await self.desk.renew(held)
            except Refused as error:
                event = _not_renewed(error)
            except ClientError as error:
                event = NotRecorded(f"Not renewed: {words_of(error)}")
            self.post_message(Happened(event))

        begin(self, work, "renew")

    def start_look(self) -> None:
        """Read the figures quietly."""

        async def work() -> None:
            try:
                self.me = await self.desk.me()
                self.live = True
            except (ClientError, SignInRefusedError):
                self.live = False
            view = self.view(self.queue_name)
            self.figures = view.figures if view is not None else self.figures
            self.repaint()

        if self.me is not None and not isinstance(self.session, Submitting):
            begin(self, work, "look")


def _not_renewed(error: Refused) -> Event:
    """Say why there is no more time; an item that moved on is no longer ours to show."""
    if error.code is ProblemCode.STALE_LEASE:
        return GivenBack(Why.REFUSED, "This item moved on while it lay here; nothing was recorded.")
    return NotRecorded(f"Not renewed: {words_of(error)}")

"""How a screen hears that something moved on, and looks at it again.

The stream only says where to look; what is true is asked for. Nothing is claimed here, no dialog
opens over a line that is being written, and what this terminal did itself is not news to it.
"""

from __future__ import annotations

import asyncio

from shared.client import ClientError
from shared.vocabulary import NewsKind
from shared.wire.live import LiveEvent
from tui.answers import words_of
from tui.background import begin
from tui.desk import SignInRefusedError
from tui.messages import Found, Happened
from tui.screens.work import Workbench
from tui.state.events import ChangeTold, Event, Leased
from tui.state.held import Trouble
from tui.state.session import (
    Changed,
    Elsewhere,
    Reviewing,
    Stale,
    Submitting,
    lease_token,
    shown_item,
)

DEAF_SECONDS = 60.0
"""Seconds until a key that may not listen tries again."""
_ITEM_SECONDS, _ITEM_SECONDS_LISTENING = 10.0, 30.0
_TOLD_SECONDS = 2.0
_LOOK_SECONDS, _LOOK_SECONDS_BUSY = 10.0, 30.0
_LOOK_LEAST, _LOOK_LEAST_BUSY = 2.0, 10.0
_LEASE_NEWS = (NewsKind.LEASE_REVOKED, NewsKind.ITEM_WITHDRAWN, NewsKind.ITEM_RESOLVED)


class Listener(Workbench):
    """Adds the stream, and the quiet looks without it."""

    listening = False
    """Whether the stream has been heard."""
    depth_told = False
    """Whether the figures on the screen are said to be old."""
    looked_at = item_looked_at = float("-inf")

    async def sign_in(self) -> None:
        """Sign in, and then read the stream for as long as the screen is there."""
        self.clear_files()
        await super().sign_in()
        if self.me is not None:
            begin(self, self._listen, "live")

    async def _listen(self) -> None:
        while True:
            try:
                async for news in self.desk.live():
                    self.listening = True
                    self.hear(news)
            except ClientError:
                self.listening = False
            await asyncio.sleep(DEAF_SECONDS)

    def clear_files(self) -> None:
        """Take away what was saved of an item that is gone."""
        raise NotImplementedError

    def hear(self, news: LiveEvent) -> None:
        """Look where the news points, if that is on the screen."""
        here = news.item_id is not None and news.item_id == self._item_id()
        if news.kind is NewsKind.RESYNC:
            self.depth_told = True
            self.look_at_item()
        elif news.kind is NewsKind.QUEUE_DEPTH:
            idle = shown_item(self.session) is None
            self.depth_told |= idle or news.queue == self.queue_name
            self.look_at_figures(self.desk.now())
        elif news.kind is NewsKind.EVIDENCE_CHANGED and here:
            if isinstance(self.session, Reviewing) and not self._parting():
                self.take(ChangeTold(news.item_id or ""))
            self.look_at_item()
        elif news.kind in _LEASE_NEWS and here:
            self.look_at_item()

    def look_when_due(self, now: float) -> None:
        """Look at the figures and at the item, when it has been long enough."""
        self.look_at_figures(now)
        wait = _ITEM_SECONDS_LISTENING if self.listening else _ITEM_SECONDS
        if isinstance(self.session, Reviewing) and self.session.told:
            wait = _TOLD_SECONDS
        if now - self.item_looked_at >= wait:
            self.look_at_item()

    def look_at_figures(self, now: float) -> None:
        """Look at the figures, when it has been long enough; sooner if they are said to be old."""
        idle = shown_item(self.session) is None
        wait = _LOOK_SECONDS if idle else _LOOK_SECONDS_BUSY
        if self.depth_told:
            wait = _LOOK_LEAST if idle else _LOOK_LEAST_BUSY
        if now - self.looked_at >= wait:
            self.looked_at, self.depth_told = now, False
            self.start_look()

    def start_look(self) -> None:
        """Read the figures quietly."""

        async def work() -> None:
            try:
                self.me = await self.desk.me()
                self.live, self.look_trouble, self.me_at = True, None, self.desk.now()
                self.show_known_figures()
            except (ClientError, SignInRefusedError) as error:
                self.live = False
                since = self.look_trouble.since if self.look_trouble else self.desk.now()
                why = words_of(error) if isinstance(error, ClientError) else str(error)
                self.look_trouble = Trouble(since, why)
            self.repaint()

        if self.me is not None and not isinstance(self.session, Submitting):
            begin(self, work, "look")

    def look_at_item(self) -> None:
        """Ask whether the item on the screen is still what it was."""
        self.item_looked_at = self.desk.now()
        token, session = lease_token(self.session), self.session
        if not token or isinstance(session, Submitting) or self._parting():
            return

        async def work() -> None:
            try:
                event = await self._find(session)
            except ClientError:
                event, self.live = None, False
            self.post_message(Found(token, event))

        begin(self, work, "item")

    async def _find(self, session: object) -> Event | None:
        """Return what holds of the item on the screen. Raises ClientError."""
        match session:
            case Elsewhere():
                return await self.desk.look_elsewhere()
            case Reviewing(held) | Changed(fresh=held) if held is not None:
                return await self.desk.look(held.lease)
            case Changed(old=held) if held is not None:
                return await self.desk.look(held.lease)
            case Stale(held=held) if held is not None:
                return await self.desk.fate(held.lease)
            case _:
                return None

    def on_found(self, message: Found) -> None:
        """Take in what a look found, unless the screen has gone on meanwhile."""
        same = message.lease_token == lease_token(self.session)
        if message.event is None or not same or self._parting():
            return
        if not isinstance(self.session, Submitting):
            self.take(message.event)

    def start_reclaim(self) -> None:
        """Take the item up again where it is still mine, else claim from its queue."""
        if not isinstance(self.session, Stale) or self.session.held is None:
            return
        lease = self.session.held.lease
        self.queue_name = lease.queue

        async def work() -> None:
            try:
                event = await self.desk.mine()
            except ClientError:
                event = None
            if isinstance(event, Leased) and event.held.lease.item_id == lease.item_id:
                self.post_message(Happened(event))
                self.start_renewal(event.held)
            else:
                self.start_claim()

        begin(self, work, "main")

    def _parting(self) -> bool:
        return bool(self.parting) and self.parting == lease_token(self.session)

    def _item_id(self) -> str:
        if isinstance(self.session, Elsewhere):
            return self.session.lease.item_id
        if isinstance(self.session, (Stale, Changed)) and self.session.pending is not None:
            return self.session.pending.item_id
        held = shown_item(self.session)
        return held.lease.item_id if held is not None else ""

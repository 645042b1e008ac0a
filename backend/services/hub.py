"""Who in this process wants to know: streams of people, and requests that wait for an item.

News comes in from the line to the database, whichever process told it, and goes out by tenant,
person and queue. Nothing here is the truth, and nothing here grows: a stream whose reader is slow
loses what waits for it, and is told to look at everything again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain

from backend.domain.identity import Identity
from backend.domain.refusals import Busy
from backend.services.news import RESYNC_ALL, News
from shared.vocabulary import NewsKind, Role
from shared.wire.live import LiveEvent

STREAMS_EACH = 8
"""How many streams one person may have open."""

WAITING_AT_MOST = 256
"""Events that may wait for a reader; one more, and he is told to look at everything."""

APART = 0.5
"""Seconds between two events that tell of the same depth, or of a resync, on one stream."""

UNREAD_AT_MOST = 60.0
"""Seconds after which a stream from which nobody takes anything is ended."""

_OFTEN = frozenset({NewsKind.QUEUE_DEPTH, NewsKind.RESYNC})
_RETRY_AFTER_MS = 5_000
_RESYNC = LiveEvent(kind=NewsKind.RESYNC)


class Stream:
    """What one person's terminal has not taken yet. `who` may change while it is open."""

    def __init__(self, who: Identity) -> None:
        self.who = who
        self.ended = False
        self._waiting: dict[LiveEvent, None] = {}
        self._not_before: dict[LiveEvent, float] = {}
        self._news = asyncio.Event()
        self._clock = asyncio.get_running_loop().time
        self.taken_at = self._clock()
        self.offer(_RESYNC)

    def admit(self, who: Identity) -> None:
        """Go on with other rights: what is seen may differ now."""
        if who != self.who:
            self.who = who
            self.offer(_RESYNC)

    def offer(self, event: LiveEvent) -> None:
        """Keep an event until it is taken; the same one twice is one."""
        if event.kind is NewsKind.RESYNC or len(self._waiting) >= WAITING_AT_MOST:
            self._waiting.clear()
            event = _RESYNC
        self._waiting[event] = None
        self._news.set()

    def end(self) -> None:
        """Let nobody wait for more."""
        self.ended = True
        self._news.set()

    async def take(self, within: float) -> LiveEvent | None:
        """Return the next event; None after `within` seconds, or when the stream has ended."""
        give_up = self._clock() + within
        while not self.ended:
            self.taken_at = now = self._clock()
            event, due = self._due(now)
            if event is not None or now >= give_up:
                return event
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(give_up, due) - now):
                    await self._news.wait()
        return None

    def _due(self, now: float) -> tuple[LiveEvent | None, float]:
        """Take the first event whose time has come; else tell when there will be one."""
        soonest = float("inf")
        for event in self._waiting:
            due = self._not_before.get(event, now)
            if due <= now:
                del self._waiting[event]
                self._note(event, now)
                return event, now
            soonest = min(soonest, due)
        return None, soonest

    def _note(self, event: LiveEvent, now: float) -> None:
        """Hold back the next one like it: whoever looks now sees what the next would tell."""
        if event.kind not in _OFTEN:
            return
        if len(self._not_before) > WAITING_AT_MOST:
            self._not_before = {e: due for e, due in self._not_before.items() if due > now}
        self._not_before[event] = now + APART


class Hub:
    """All who listen in this process, by tenant and person, or by tenant and queue."""

    def __init__(self, *, streams_each: int = STREAMS_EACH) -> None:
        self._streams_each = streams_each
        self._streams: dict[int, dict[int, deque[Stream]]] = {}
        self._waiters: dict[tuple[int, str], set[asyncio.Event]] = {}
        self._closed = False

    # what comes in

    def hear(self, news: News) -> None:
        """Pass news on to whom it concerns. Never raises, and never waits."""
        if news.kind is NewsKind.RESYNC:
            self._resync(news.tenant_id)
            return
        event = LiveEvent(
            kind=news.kind,
            queue=news.queue,
            item_id=None if news.item_pk is None else str(news.item_pk),
        )
        for stream in self._concerned(news):
            stream.offer(event)
        if news.queue is not None and news.principal_id is None:
            _wake(self._waiters.get((news.tenant_id, news.queue), ()))

    def resync(self) -> None:
        """Tell everybody that something may have been missed."""
        self.hear(RESYNC_ALL)

    def close(self) -> None:
        """End every stream and every wait, now and from now on: the server stops."""
        self._closed = True
        for stream in self._of_tenant(0):
            stream.end()
        _wake(chain.from_iterable(self._waiters.values()))

    def _resync(self, tenant_id: int) -> None:
        for stream in self._of_tenant(tenant_id):
            stream.offer(_RESYNC)
        for (tenant, _), waiters in self._waiters.items():
            if tenant_id in (0, tenant):
                _wake(waiters)

    def _of_tenant(self, tenant_id: int) -> Iterator[Stream]:
        """Yield the streams of a tenant; of all of them if it is 0."""
        tenants = self._streams.values() if tenant_id == 0 else [self._streams.get(tenant_id, {})]
        return (stream for people in tenants for streams in people.values() for stream in streams)

    def _concerned(self, news: News) -> Iterator[Stream]:
        if news.principal_id is not None:
            yield from self._streams.get(news.tenant_id, {}).get(news.principal_id, ())
        elif news.queue is not None:
            for stream in self._of_tenant(news.tenant_id):
                if sees(stream.who, news.queue):
                    yield stream

    # who wants to know

    def stream(self, who: Identity) -> AbstractContextManager[Stream]:
        """Listen for one terminal. The place is taken at once, so that all who come count.

        Raises Busy if this person has as many streams as one may have. Unless somebody listens, the
        place is free again after a minute; when the server stops, the stream has ended already.
        """
        stream = Stream(who)
        if self._closed:
            stream.end()
        elif self._streams_each <= len(self._still_read(who)):
            raise Busy("close another terminal first", retry_after_ms=_RETRY_AFTER_MS)
        else:
            people = self._streams.setdefault(who.tenant_id, {})
            people.setdefault(who.principal_id, deque()).append(stream)
        return self._listening(stream)

    @contextlib.contextmanager
    def _listening(self, stream: Stream) -> Iterator[Stream]:
        try:
            yield stream
        finally:
            stream.end()
            self._forget(stream)

    def _still_read(self, who: Identity) -> Sequence[Stream]:
        """Return a person's streams; those that nobody reads any more are ended first."""
        mine = tuple(self._streams.get(who.tenant_id, {}).get(who.principal_id, ()))
        oldest = asyncio.get_running_loop().time() - UNREAD_AT_MOST
        for stream in mine:
            if stream.taken_at < oldest:
                stream.end()
                self._forget(stream)
        return [stream for stream in mine if not stream.ended]

    def _forget(self, stream: Stream) -> None:
        who = stream.who
        people = self._streams.get(who.tenant_id, {})
        mine = people.get(who.principal_id)
        if mine is None or stream not in mine:
            return
        mine.remove(stream)
        if not mine:
            del people[who.principal_id]
        if not people:
            del self._streams[who.tenant_id]

    @contextlib.contextmanager
    def watching(self, tenant_id: int, queues: Sequence[str]) -> Iterator[asyncio.Event]:
        """Have an event set at each change in these queues: look into them after entering."""
        changed = asyncio.Event()
        if self._closed:
            changed.set()
        keys = [(tenant_id, queue) for queue in queues]
        for key in keys:
            self._waiters.setdefault(key, set()).add(changed)
        try:
            yield changed
        finally:
            for key in keys:
                waiters = self._waiters.get(key, set())
                waiters.discard(changed)
                if not waiters:
                    self._waiters.pop(key, None)

    async def wait(self, tenant_id: int, queues: Sequence[str], timeout: float) -> bool:
        """Wait until something changed in one of these queues, or the server stops.

        False: nothing was heard for `timeout` seconds. That proves nothing: look again anyway.
        """
        with self.watching(tenant_id, queues) as changed:
            try:
                async with asyncio.timeout(timeout):
                    await changed.wait()
            except TimeoutError:
                return False
            return True


def sees(who: Identity, queue: str) -> bool:
    """Tell whether somebody may hear of a queue: he works there, or leads it."""
    return who.may(Role.REVIEWER, queue) or who.may(Role.LEAD, queue)


def _wake(waiters: Iterator[asyncio.Event] | Sequence[asyncio.Event] | set[asyncio.Event]) -> None:
    for waiter in waiters:
        waiter.set()

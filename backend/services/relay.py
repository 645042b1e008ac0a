"""What joins the processes: a line to the database that is kept up, talked on and listened to.

News that is told waits a moment, so that what many requests tell is one message, and goes out after
the fact on a connection of its own. It comes back on the same line, to this process as to every
other, and so there is one way only. While the line is down nothing is heard and polling goes on;
once it is up again, everybody is told to look at everything.
"""

from __future__ import annotations

import asyncio
import contextlib
import random

import structlog

from backend.db.errors import DatabaseError
from backend.db.listen import Line
from backend.services.hub import Hub
from backend.services.news import RESYNC_ALL, News, heard, written

_log = structlog.get_logger("fencepost.live")

FLUSH_EVERY = 0.05
"""Seconds that news waits for more."""

UNSENT_AT_MOST = 2_000
"""News that may wait to be sent; more becomes one resync for everybody."""

_BEAT = 4.0  # seconds of silence after which the server is asked for a sign of life
_ANSWER_WITHIN = 4.0
_FIRST_WAIT = 0.1
_LONGEST_WAIT = 5.0
_LASTING = 5.0  # seconds after which a line counts as one that held


class Relay:
    """Keeps the line of one process; `run` until `stop`, like any worker."""

    def __init__(
        self, url: str, hub: Hub, *, beat: float = _BEAT, answer_within: float = _ANSWER_WITHIN
    ) -> None:
        self._url = url
        self._hub = hub
        self._beat = beat
        self._answer_within = answer_within
        self._unsent: dict[News, None] = {}
        self._something = asyncio.Event()
        self._stopping = asyncio.Event()
        self._trouble = ""
        self._failures = 0

    def tell(self, news: News) -> None:
        """Take news to be told soon, at once and without fail: it is a `Tell`."""
        self._unsent[news] = None
        if len(self._unsent) > UNSENT_AT_MOST:
            self._unsent = {RESYNC_ALL: None}
        self._something.set()

    def stop(self) -> None:
        """Send what waits, and hang up."""
        self._stopping.set()
        self._something.set()

    async def run(self) -> None:
        """Keep the line up until stopped. Whatever breaks it is logged once, and it comes back."""
        clock = asyncio.get_running_loop().time
        while not self._stopping.is_set():
            began = clock()
            try:
                await self._hold()
                trouble = "lost"
            except DatabaseError as error:
                trouble = _name(error)
            except Exception as error:  # noqa: BLE001 - whatever it is, the line must come back
                trouble = type(error).__name__
            if clock() - began > _LASTING:
                self._failures = 0
            if not self._stopping.is_set():
                self._say_down(trouble)
                await self._pause()

    async def _hold(self) -> None:
        """Open the line and use it for as long as it lasts."""
        async with Line(
            self._url, self._hear, self._something.set, answer_within=self._answer_within
        ) as line:
            self._say_up()
            # From here on everything is heard; what was said before was not.
            self._hub.resync()
            while line.is_up:
                await self._wait()
                await self._speak(line)
                if self._stopping.is_set():
                    return

    async def _wait(self) -> None:
        """Wait for something to say, an end, or the time for a sign of life."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._beat):
                await self._something.wait()
        if self._unsent and not self._stopping.is_set():
            await asyncio.sleep(FLUSH_EVERY)
        self._something.clear()

    async def _speak(self, line: Line) -> None:
        if not self._unsent:
            if line.is_up and not self._stopping.is_set():
                await line.probe()
            return
        saying, self._unsent = self._unsent, {}
        try:
            await line.tell(written(saying))
        except BaseException:
            # Said twice is better than not at all.
            for news in saying:
                self.tell(news)
            raise

    def _hear(self, message: str) -> None:
        for news in heard(message):
            self._hub.hear(news)

    def _say_up(self) -> None:
        if self._trouble:
            _log.info("live.up_again")
        self._trouble = ""

    def _say_down(self, trouble: str) -> None:
        if not self._trouble:
            _log.warning("live.down", why=trouble, then="polling goes on")
        self._trouble = trouble

    async def _pause(self) -> None:
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(self._failures, 10))
        self._failures += 1
        wait = longest * random.uniform(0.5, 1.0)  # noqa: S311 - jitter is no secret
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._stopping.wait()


def _name(error: DatabaseError) -> str:
    """Name the trouble: what a driver says may quote an address."""
    cause = error.__cause__
    return (
        type(error).__name__ if cause is None else f"{type(error).__name__}: {type(cause).__name__}"
    )

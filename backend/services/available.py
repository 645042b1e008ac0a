"""Say when there is something for a person to claim; nothing is leased by waiting.

The database is the truth: it is looked at when somebody comes, at each news of his queues, and
every two seconds whatever was heard. All who wait look at the same moments, and all who ask at one
moment are answered by one statement. Nobody holds a connection while he waits.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import msgspec
import structlog

from backend.db.claim import find_claimable
from backend.db.connection import Database
from backend.db.errors import DatabaseError
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.refusals import Busy
from backend.services.claim import figures_of, queues_asked
from backend.services.hub import Hub
from backend.services.places import Places
from shared.wire.queue import Available

_log = structlog.get_logger(__name__)

LOOK_EVERY = 2.0
"""Seconds between two looks where nothing is heard."""
WAITS_EACH = 32
"""How many waits one person may have at once; a client has one."""
APART = 0.1
"""The least seconds between two looks of one person, however much is heard."""

_RETRY_AFTER_MS = 1_000


class _Question(msgspec.Struct, frozen=True):
    """Whether there is something in `queue` that this person may take."""

    tenant_id: int
    queue: str
    principal_id: int


class Lookout:
    """Those in one process who wait for something to claim. It ends all waits once `closing`."""

    def __init__(
        self, db: Database, hub: Hub, closing: asyncio.Event, *, look_every: float = LOOK_EVERY
    ) -> None:
        self.db = db
        self._hub = hub
        self._closing = closing
        self._look_every = look_every
        self._asked: dict[_Question, None] = {}
        self._asking: asyncio.Task[set[_Question]] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._places = Places(WAITS_EACH)
        self.looks = 0
        """How many statements were sent."""

    async def wait(self, who: Identity, queues: Sequence[str], seconds: float) -> list[str]:
        """Return the queues with something for `who`; none if nothing came within `seconds`.

        Raises Busy if he waits too often at once, and DatabaseError if the first look can't be had;
        later ones are tried again.
        """
        with self._places.one(who.principal_id) as is_free:
            if not is_free:
                raise Busy("end another wait first", retry_after_ms=_RETRY_AFTER_MS)
            return await self._found(who, queues, seconds)

    async def _found(self, who: Identity, queues: Sequence[str], seconds: float) -> list[str]:
        clock = asyncio.get_running_loop().time
        give_up = clock() + seconds
        with self._hub.watching(who.tenant_id, queues) as changed:
            found = await self._look(who, queues)
            while not (found or self._closing.is_set() or clock() >= give_up):
                # By one clock for all, so that they ask together.
                await _heard(changed, min(give_up, self._next_look(clock())) - clock())
                changed.clear()
                try:
                    found = await self._look(who, queues)
                except DatabaseError as error:
                    _log.info("available.not_looked", fault=type(error).__name__)
        return found

    def _next_look(self, now: float) -> float:
        return (now // self._look_every + 1) * self._look_every

    async def _look(self, who: Identity, queues: Sequence[str]) -> list[str]:
        """Ask together with all who ask now; those who come while others are answered are next."""
        asked = [_Question(who.tenant_id, queue, who.principal_id) for queue in queues]
        self._asked.update(dict.fromkeys(asked))
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
            self._asking.add_done_callback(_noticed)
        # Whoever goes away leaves the question to the others.
        found = await asyncio.shield(self._asking)
        return [question.queue for question in asked if question in found]

    async def _ask(self) -> set[_Question]:
        async with self._one_at_a_time:
            questions, self._asked, self._asking = list(self._asked), {}, None
            self.looks += 1
            async with self.db.connection() as conn:
                places = await find_claimable(
                    conn,
                    tenant_ids=[question.tenant_id for question in questions],
                    queues=[question.queue for question in questions],
                    principal_ids=[question.principal_id for question in questions],
                )
        return {questions[place] for place in places}


def _noticed(asking: asyncio.Task[set[_Question]]) -> None:
    """Take note of a failure, also where all who asked have gone."""
    if not asking.cancelled():
        asking.exception()


async def _heard(changed: asyncio.Event, seconds: float) -> None:
    """Wait for a change, yet not again at once."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.sleep(APART)
            await changed.wait()


async def available(
    lookout: Lookout,
    policy: Policy,
    who: Identity,
    asked: Sequence[str] | None,
    seconds: float = 0.0,
) -> Available:
    """Return where there is something for `who` to claim, after at most `seconds`.

    Raises InvalidField for a queue that does not exist, Forbidden where `who` may not work, and
    Busy as `Lookout.wait` does.
    """
    queues = queues_asked(policy, who, asked, "queue")
    found = await lookout.wait(who, queues, seconds)
    figures = await figures_of(lookout.db, who, queues)
    return Available(queues=tuple(found), figures=tuple(figures))

"""The line to the database is cut at every message of every deed, before it arrives and after.

Nobody can know what became of it; so the same request is sent again, and then it has happened once.
The same for a deed that is cancelled at each place where it waits.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Generator
from itertools import count
from typing import Any

import pytest

from backend.db.connection import Database
from backend.db.errors import OutcomeUnknownError, UnavailableError
from backend.domain.refusals import OutcomeUnknown
from backend.services.policies import shipped_policy
from tests.model.cut_deeds import DEEDS, Scene, set_scene
from tests.support.desk import Desk, set_up_desk
from tests.support.postgres import Dsn
from tests.support.proxy import Cut, proxied
from tests.support.trail import assert_every_chain_is_whole

_MOST = 60
"""More messages than any deed sends: a deed that never gets through must not be tried for ever."""


_UNKNOWN = (OutcomeUnknownError, OutcomeUnknown)
"""From a service; a bulk deed has several transactions, and says it in the words of a refusal."""


@pytest.fixture
async def scene(database: Database, admin: Any) -> AsyncIterator[Scene]:
    desk: Desk = await set_up_desk(database, admin, shipped_policy())
    yield await set_scene(desk)
    await assert_every_chain_is_whole(desk.admin)


@pytest.mark.fault
@pytest.mark.parametrize("where", list(Cut), ids=lambda where: where.value)
@pytest.mark.parametrize("name", DEEDS)
async def test_a_deed_whose_line_is_cut_happens_once_when_it_is_sent_again(
    dsn: Dsn, scene: Scene, name: str, where: Cut
) -> None:
    told = set()
    async with proxied(dsn.runtime) as (proxy, url):
        for message in count(1):
            assert message < _MOST
            deed = await DEEDS[name](scene)
            async with Database(url, size=1, durable=False, true_clock=False) as cut_off:
                proxy.arm(where, message)
                try:
                    await deed.send(cut_off)
                except _UNKNOWN as error:
                    told.add(type(error))
                except UnavailableError:
                    pass
                else:
                    # What was surely not done may have been tried again by itself.
                    assert b"COMMIT" not in (proxy.last or b""), "nobody can know this answer"
            await deed.check(await deed.send(scene.desk.db))
            if proxy.last is None:
                break
    assert told, "the commit itself was never cut"


class _CancelledAt:
    """Runs a coroutine as a task does, and cancels the task at the n-th place where it waits."""

    def __init__(self, work: Awaitable[Any], place: int) -> None:
        self._work = work
        self._left = place
        self.reached = False

    def __await__(self) -> Generator[Any, Any, Any]:
        work = self._work.__await__()
        try:
            waits_for = work.send(None)
            while True:
                self._left -= 1
                if self._left == 0:
                    self.reached = True
                    task = asyncio.current_task()
                    assert task is not None
                    task.cancel()
                try:
                    value = yield waits_for
                except BaseException as error:  # noqa: BLE001 - it is the work's own to handle
                    waits_for = work.throw(error)
                else:
                    waits_for = work.send(value)
        except StopIteration as done:
            return done.value


async def _done(work: Awaitable[Any]) -> None:
    await work


@pytest.mark.parametrize("name", DEEDS)
async def test_a_deed_that_is_cancelled_anywhere_happens_once_when_it_is_sent_again(
    scene: Scene, name: str
) -> None:
    for place in count(1):
        assert place < _MOST
        deed = await DEEDS[name](scene)
        work = _CancelledAt(deed.send(scene.desk.db), place)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.create_task(_done(work))
        await deed.check(await deed.send(scene.desk.db))
        if not work.reached:
            break
    assert place > 2, "it hardly ever waited"

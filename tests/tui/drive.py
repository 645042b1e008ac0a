"""The real application on a fake server: started, pressed on, and read as text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from shared.client import FencepostClient
from tests.tui.fake_server import FakeServer
from tui.app import FencepostApp
from tui.desk import Desk
from tui.journal import Journal
from tui.screens.review import ReviewScreen
from tui.screens.switching import Overlay
from tui.settings import Settings
from tui.state.held import Why
from tui.state.session import Claiming, Idle, Reviewing, Submitting

SERVER, KEY = "http://127.0.0.1:1", "fp_test_reviewer_notasecret"
SIZES = ((80, 24), (120, 40), (200, 60))
RETRY = 0.1
"""Seconds between tries, in place of the real ones."""
ARMED = 0.45
"""Seconds after which verdict letters count."""


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def settings(folder: Path, **changes: Any) -> Settings:
    """Return settings with plain defaults."""
    plain: dict[str, Any] = {
        "view": "review", "server": SERVER, "key": KEY, "queue": "posts", "theme": "dark",
        "hint": "", "state_dir": folder,
    }  # fmt: skip
    return Settings(**{**plain, **changes})


def application(
    server: FakeServer,
    folder: Path,
    clock: Clock | None = None,
    *,
    terminal: str | None = None,
    **changes: Any,
) -> FencepostApp:
    """Return the application, ready to run against `server`; waits between tries are short."""
    chosen = settings(folder, **changes)

    async def short_sleep(_: float) -> None:
        await asyncio.sleep(RETRY)

    client = FencepostClient(
        chosen.server, chosen.key, server.transport(), attempts=1, sleep=short_sleep
    )
    journal = Journal(folder, chosen.server, chosen.key)
    desk = Desk(client, journal, clock or Clock(), short_sleep, terminal)
    return FencepostApp(chosen, desk)


@asynccontextmanager
async def running(
    app: FencepostApp, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Pilot[str]]:
    """Run `app` without a terminal, until its first item can be decided."""
    async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
        await armed(pilot)
        yield pilot


async def armed(pilot: Pilot[str]) -> None:
    """Wait until the item counts keys; where there is none to come, only until that is settled."""
    end = time.monotonic() + 10
    await pilot.pause(0.05)
    while _busy(pilot.app) and time.monotonic() < end:
        await pilot.pause(0.02)


def _busy(app: App[Any]) -> bool:
    screen = app.screen
    if not isinstance(screen, ReviewScreen):
        return False
    match screen.session:
        case Reviewing():
            return not screen.hand.armed(time.monotonic())
        case Claiming(trouble=trouble) | Submitting(trouble=trouble):
            return trouble is None
        case Idle(why=Why.START):
            return screen.overlay is Overlay.NONE and screen.sign_in_trouble is None
        case _:
            return False


async def press(pilot: Pilot[str], *keys: str, gap: float = 0.07) -> None:
    """Press keys at a human pace."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause(gap)


async def decide(pilot: Pilot[str], *keys: str) -> None:
    """Press keys once the item counts keys, and wait for what comes of it."""
    await armed(pilot)
    await press(pilot, *keys)
    await pilot.pause(0.1)


def shown(app: FencepostApp) -> str:
    """Return what is on the screen, as text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


def review(app: FencepostApp) -> ReviewScreen:
    """Return the workstation."""
    assert isinstance(app.screen, ReviewScreen)
    return app.screen

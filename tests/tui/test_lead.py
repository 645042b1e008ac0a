"""The leads' first screen: real figures, their thresholds, and their age."""

from __future__ import annotations

from pathlib import Path

import httpx
import msgspec
import pytest

from shared.problems import ProblemCode
from tests.tui.drive import SIZES, Clock, application, press, running, shown
from tests.tui.fake_server import FakeServer, problem
from tui.cockpit.health import KEY_REFUSED, HealthScreen


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_figure_stands_with_its_threshold(folder: Path, size: tuple[int, int]) -> None:
    app = application(FakeServer(), folder, view="lead", queue=None)
    async with running(app, size):
        text = shown(app)
    for words in (
        "Waiting", "! 628", "487/h decided", "Oldest", "✕ 11:02", "SLA 10:00", "In review",
        "! 92", "2 lapsed 1 esc", "Not applied", "✕ 3", ">5:00, 1 ", "No score", "◌ 12",
        "! near", "✕ over", "✓ in time", "371 90%", "3+ leases: 12",
        "7 verdicts recorded and not yet due",
        "● live", "policy standard-1",
    ):  # fmt: skip
        assert words in text, words


async def test_old_figures_say_that_they_are_old(folder: Path) -> None:
    server, clock = FakeServer(), Clock()
    app = application(server, folder, clock, view="lead", queue=None)
    async with running(app) as pilot:
        server.fail("health", *[lambda: problem(ProblemCode.BUSY, 503, "Too busy.")] * 100)
        clock.now += 23
        await press(pilot, "r")
        text = shown(app)
        assert isinstance(app.screen, HealthScreen)
        assert app.screen.has_class("-stale")
    assert "✕ STALE: as of" in text
    assert "0:23 ago" in text
    assert "Not refreshed: Too busy." in text
    assert "● live" not in text
    assert "628" in text, "what was read stays"


async def test_refreshing_reads_anew(folder: Path) -> None:
    server = FakeServer()
    app = application(server, folder, view="lead", queue=None)
    async with running(app) as pilot:
        server.health = msgspec.structs.replace(server.health, held=77)
        await press(pilot, "r")
        await pilot.pause(0.1)
        assert "◌ 77" in shown(app)


async def test_help_and_leaving_work_and_q_does_not_leave(folder: Path) -> None:
    app = application(FakeServer(), folder, view="lead", queue=None)
    async with running(app) as pilot:
        await press(pilot, "q")
        assert "ctrl+q leaves" in shown(app)
        await press(pilot, "question_mark")
        assert "read the figures now" in shown(app)
        await press(pilot, "x")
        assert "read the figures now" not in shown(app)
        await pilot.press("ctrl+q")
        await pilot.pause(0.1)
    assert app.return_code == 0


@pytest.mark.parametrize("code", [ProblemCode.FORBIDDEN, ProblemCode.UNAUTHENTICATED])
async def test_a_key_that_is_no_leads_ends_with_one_line(folder: Path, code: ProblemCode) -> None:
    server = FakeServer()
    server.fail("health", *[lambda: problem(code, 403)] * 100)
    app = application(server, folder, view="lead", queue=None)
    async with running(app) as pilot:
        await pilot.pause(0.1)
    assert app.return_code == KEY_REFUSED
    assert app.return_value == (
        "fencepost: the server refuses this key: it takes the valid key of a lead."
    )


async def test_a_server_out_of_reach_at_the_start_is_said(folder: Path) -> None:
    def cut() -> httpx.Response:
        raise httpx.ConnectError("no")

    server = FakeServer()
    server.fail("health", *[cut] * 100)
    app = application(server, folder, view="lead", queue=None)
    async with running(app):
        text = shown(app)
    assert "no figures yet" in text
    assert "Not refreshed: no answer from the server" in text


async def test_a_long_hint_is_shown_whole(folder: Path) -> None:
    hint = "Work on it: fencepost review --server http://127.0.0.1:39939 --key-file /tmp/some/key"
    app = application(FakeServer(), folder, view="lead", queue=None, hint=hint)
    async with running(app, (80, 24)):
        assert hint.replace(" ", "") in shown(app).replace("\n", "").replace(" ", "")


# words in place of signs


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (80, ("> 487/h decided", "over SLA 10:00", "2 lapsed 1 esc.", ">5:00, 1 dead")),
        (120, ("more than 487/h decided", "2 lapsed 1 escalating", ">5:00, 1 gave up")),
        (200, ("over SLA 10:00 Cases", ">5:00, 1 gave up, oldest 6:52")),
    ],
)
async def test_a_sign_on_a_card_comes_with_its_reason(
    folder: Path, width: int, words: tuple[str, ...]
) -> None:
    app = application(FakeServer(), folder, view="lead", queue=None)
    async with running(app, (width, 40)):
        text = shown(app)
    for each in words:
        assert each in text, each


@pytest.mark.parametrize(
    ("width", "count", "words"),
    [
        (80, 3, ("! 628", "3 unclaimable")),
        (80, 12_345, ("! 628", "12345 nobody's")),
        (120, 3, ("3 unclaimable", "parked", "unclaimable", "present")),
        (200, 3, ("3 unclaimable, 487/h decided",)),
    ],
)
async def test_what_nobody_present_may_take_is_said_in_a_word(
    folder: Path, width: int, count: int, words: tuple[str, ...]
) -> None:
    server = FakeServer()
    posts, *others = server.health.queues
    posts = msgspec.structs.replace(posts, unclaimable=count, present=2, parked=41)
    server.health = msgspec.structs.replace(server.health, queues=(posts, *others))
    app = application(server, folder, view="lead", queue=None)
    async with running(app, (width, 40)):
        rows = shown(app).splitlines()
    for each in words:
        assert any(each in row for row in rows), each
    if width >= 120:
        cells = next(row.split() for row in rows if " 41 " in row)
        assert cells[cells.index("41") :][:3] == ["41", str(count), "2"]


async def test_the_oldest_item_near_its_limit_is_called_near(folder: Path) -> None:
    server = FakeServer()
    posts = msgspec.structs.replace(server.health.queues[0], oldest_ms=252_000)
    server.health = msgspec.structs.replace(server.health, queues=(posts,))
    app = application(server, folder, view="lead", queue=None)
    async with running(app, (80, 24)):
        assert "near SLA 5:00" in shown(app)


async def test_the_lease_counts_of_the_busiest_queue_come_first(folder: Path) -> None:
    server = FakeServer()
    quiet, *others = reversed(server.health.queues)
    server.health = msgspec.structs.replace(server.health, queues=(quiet, *others))
    app = application(server, folder, view="lead", queue=None)
    async with running(app, (80, 24)):
        headings = [row for row in shown(app).splitlines() if "─" in row and "Posts " in row]
    assert headings
    assert headings[0].index("Posts") < headings[0].index("Cases")


async def test_help_explains_the_short_words(folder: Path) -> None:
    app = application(FakeServer(), folder, view="lead", queue=None)
    async with running(app, (80, 24)) as pilot:
        await press(pilot, "question_mark")
        text = shown(app)
    assert "escalating: " in text
    assert "unclaimable: " in text
    assert "gave up: " in text
    assert "(esc.)" in text
    assert "(dead)" in text

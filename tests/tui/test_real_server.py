"""Two workstations of one person on a real server, over real sockets: one item, one truth."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot

from backend.db.connection import Database
from shared.client import FencepostClient
from shared.vocabulary import ItemList, Role, TakeBackReason
from shared.wire.content import Case
from shared.wire.evidence import EvidenceRevision
from shared.wire.item import TakeBackRequest
from tests.support.gateway import key_for, standard
from tests.support.live import LiveServer, live_server
from tests.support.postgres import Dsn
from tests.tui.drive import armed, decide, press, review, running, settings, shown
from tui.app import FencepostApp
from tui.desk import Desk
from tui.journal import Journal
from tui.state.session import Reviewing

WITHIN = 2.0
READ = 0.45


@pytest.fixture
async def server(database: Database, dsn: Dsn) -> AsyncIterator[LiveServer]:
    await standard(database)
    async with live_server(database, dsn) as running_server:
        yield running_server


class World:
    """A producer with a case, a reviewer with as many terminals as he likes, a lead."""

    def __init__(self, server: LiveServer, keys: dict[Role, str], folder: Path) -> None:
        self.server, self.keys, self.folder = server, keys, folder

    def client(self, role: Role) -> FencepostClient:
        return self.server.client(self.keys[role])

    async def case(self, content_id: str = "k-1", **fields: object) -> None:
        async with self.client(Role.PRODUCER) as producer:
            body = msgspec.Raw(msgspec.json.encode({"name": "Ana", **fields}))
            await producer.submit_case("cases", Case(content_id=content_id, fields=body))

    async def revise(self, content_id: str = "k-1", **fields: object) -> None:
        async with self.client(Role.PRODUCER) as producer:
            body = msgspec.Raw(msgspec.json.encode({"name": "Ana", **fields}))
            await producer.revise(content_id, EvidenceRevision(fields=body))

    def terminal(self, name: str) -> FencepostApp:
        folder, key = self.folder / name, self.keys[Role.REVIEWER]
        chosen = settings(folder, server=self.server.address, key=key, queue="cases")
        client = FencepostClient(self.server.address, key, attempts=1)
        journal = Journal(folder, self.server.address, key)
        return FencepostApp(chosen, Desk(client, journal, time.monotonic, asyncio.sleep, name))


@pytest.fixture
async def world(server: LiveServer, database: Database, tmp_path: Path) -> World:
    roles = (Role.PRODUCER, Role.REVIEWER, Role.LEAD)
    return World(server, {role: await key_for(database, role) for role in roles}, tmp_path)


async def within(pilot: Pilot[str], words: str, seconds: float = 10.0) -> float:
    """Wait until the screen says so; return how long that took."""
    began = time.monotonic()
    while words not in shown(pilot.app) and time.monotonic() < began + seconds:  # type: ignore[arg-type]
        await pilot.pause(0.02)
    assert words in shown(pilot.app), shown(pilot.app)  # type: ignore[arg-type]  # it is ours
    return time.monotonic() - began


async def listening(*pilots: Pilot[str]) -> None:
    for pilot in pilots:
        screen = review(pilot.app)  # type: ignore[arg-type]  # it is ours
        while not screen.listening:
            await pilot.pause(0.02)


async def test_two_consoles_on_one_item_and_what_is_decided_in_one_is_seen_on_the_other(
    world: World,
) -> None:
    await world.case()
    one, other = world.terminal("host-a"), world.terminal("host-b")
    async with running(one) as first, running(other) as second:
        await within(first, "k-1")
        await within(second, "You hold k-1 in another terminal (host-a)")
        await listening(first, second)
        await second.pause(READ)
        await press(second, "enter")
        assert await within(first, "You took it over in another terminal") < WITHIN
        await within(first, "It is open in your other terminal.")
        await within(second, "Taken over: the other terminal can't decide it any more.")
        await armed(second)
        await decide(second, "r", "1")
        await within(second, "✓ REJECT k-1")
        assert await within(first, "It was decided") < WITHIN
        await first.pause(READ)
        await press(first, "enter")
        await within(first, "Nothing waiting for you")


async def test_a_terminal_that_only_asked_hears_that_it_was_decided_elsewhere(
    world: World,
) -> None:
    await world.case()
    one, other = world.terminal("host-a"), world.terminal("host-b")
    async with running(one) as first, running(other) as second:
        await within(second, "in another terminal (host-a)")
        await listening(first, second)
        await decide(first, "r", "1")
        await within(first, "✓ REJECT k-1")
        assert await within(second, "It is not yours any more") < WITHIN


async def test_evidence_revised_while_it_is_read_is_shown_and_then_decided(world: World) -> None:
    await world.case(amount=100)
    app = world.terminal("host-a")
    async with running(app) as pilot:
        await within(pilot, "k-1")
        await listening(pilot)
        await world.revise(amount=900)
        assert await within(pilot, "Evidence changed · d look") < WITHIN
        await press(pilot, "d")
        assert "[−100−] [+900+]" in shown(app)
        await pilot.pause(READ)
        await press(pilot, "enter")
        await decide(pilot, "r", "1")
        await within(pilot, "✓ REJECT k-1")


async def test_a_verdict_on_old_evidence_is_refused_with_what_changed_and_sent_with_a_key(
    world: World,
) -> None:
    await world.case(amount=100)
    app = world.terminal("host-a")
    async with running(app) as pilot:
        await within(pilot, "k-1")
        await armed(pilot)
        await press(pilot, "r")
        screen = review(app)
        screen.workers.cancel_group(screen, "live")  # this terminal hears nothing any more
        await world.revise(amount=900)
        await press(pilot, "1")
        await within(pilot, "Not recorded: the evidence changed")
        assert "[−100−] [+900+]" in shown(app)
        state = screen.session
        assert getattr(state, "change", None) is not None, "the server says it too"
        await pilot.pause(READ)
        await press(pilot, "enter")
        await within(pilot, "✓ REJECT k-1")


async def test_parking_asks_the_producer_and_new_evidence_brings_it_back(world: World) -> None:
    await world.case()
    app = world.terminal("host-a")
    async with running(app) as pilot:
        await within(pilot, "k-1")
        await armed(pilot)
        await press(pilot, "P", "1", "5", *"Why", "enter")
        await within(pilot, "Parked until")
        await within(pilot, "Nothing waiting for you")
        async with world.client(Role.PRODUCER) as producer:
            asked = (await producer.questions("k-1")).questions[0]
        assert (asked.text, asked.open) == ("Why", True)
        await world.revise(answer=42)
        await press(pilot, "enter")
        await within(pilot, "answer")
        assert isinstance(review(app).session, Reviewing)


async def test_a_lead_who_takes_it_back_is_heard_and_the_note_is_kept(world: World) -> None:
    await world.case()
    app = world.terminal("host-a")
    async with running(app) as pilot:
        await within(pilot, "k-1")
        await listening(pilot)
        await press(pilot, "c", *"seen", "enter")
        async with world.client(Role.LEAD) as lead:
            line = (await lead.items("cases", ItemList.HELD)).items[0]
            await lead.take_back(
                line.item_id,
                TakeBackRequest(lease_epoch=line.lease_epoch, reason=TakeBackReason.HOLDER_AWAY),
            )
        assert await within(pilot, "A lead took it back") < WITHIN
        assert [note.text for note in review(app).kept] == ["seen"]


async def test_an_attachment_is_saved_through_the_lease_and_proven(world: World) -> None:
    data = b"a line of text"
    digest = hashlib.sha256(data).hexdigest()
    async with world.client(Role.PRODUCER) as producer:
        await producer.put_blob(digest, "text/plain", data)
        await producer.submit_case(
            "cases",
            Case(content_id="k-1", fields=msgspec.Raw(b'{"name":"Ana"}'), attachments=(digest,)),
        )
    app = world.terminal("host-a")
    async with running(app) as pilot:
        await within(pilot, "Attachments: 1")
        await press(pilot, "f")
        await within(pilot, "1 saved in")
        saved = list((world.folder / "host-a").rglob("*.txt"))
        assert [path.read_bytes() for path in saved] == [data]
        assert saved[0].stat().st_mode & 0o777 == 0o600
        await pilot.press("ctrl+q")
        await pilot.pause(0.3)
    assert not list((world.folder / "host-a").rglob("*.txt")), "nothing of it stays"

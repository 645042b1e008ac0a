"""A database of its own and the model beside it: what every deed of a play begins with."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

from tests.model.compare import agree
from tests.model.ground import LEADS, REASONS, STAFF, Ground
from tests.model.offices import Offices
from tests.model.players import Players
from tests.model.reference.records import Saying, Told
from tests.model.reference.world import World
from tests.model.told import kinds
from tests.support.desk import Desk

T = TypeVar("T")

ROUNDS = """
SELECT i.id, n.content_id, i.round FROM item i JOIN content n ON n.id = i.content_id
"""
SHOWN = """
SELECT n.content_id, e.revision, encode(e.hash, 'hex') AS hash
FROM evidence e JOIN content n ON n.id = e.content_id
"""

FIRST = """
SELECT n.content_id, d.id FROM decision d JOIN content n ON n.id = d.content_id
WHERE d.principal_id IS NULL
"""


class Stage:
    """A database, a loop, the model, and what was seen so far.

    People are known by their place on the staff. Every deed takes a second.
    """

    def __init__(self, ground: Ground) -> None:
        self.people = ground.people
        self.runner = asyncio.Runner()
        self.life = contextlib.AsyncExitStack()
        self.desk: Desk = self.run(self.life.enter_async_context(ground.desk()))
        self.real = Players(self.desk)
        self.office = Offices(self.desk, ground.producer)
        self.producer = ground.producer.principal_id
        rooms = {who.principal_id: set(STAFF[who.name]) for who in self.people}
        self.world = World(
            names={who.principal_id: who.name for who in self.people},
            rooms=rooms,
            led={
                who.principal_id: rooms[who.principal_id] if who.name in LEADS else set()
                for who in self.people
            },
            reasons=REASONS,
        )
        self.leases: list[dict[str, Any]] = []
        self.keys: list[tuple[int, str, str]] = []
        self.sent: list[tuple[int, Saying]] = []
        self.met: set[str] = set()
        """The kinds of answers that were given."""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def close(self) -> None:
        try:
            self.run(self.life.aclose())
        finally:
            self.runner.close()

    def turn(self, seconds: int) -> None:
        """Count on; whole seconds, so that what ends now ends exactly now."""
        self.world.now += seconds
        shift = timedelta(seconds=self.world.now)
        self.run(self.desk.admin.execute("UPDATE test_clock SET shift = $1", shift))

    def same(self, told: Told | None, right: Told) -> None:
        """Raise AssertionError, which says both, if what was told is not what the model says."""
        assert told == right, f"told: {told}\nrightly: {right}"
        self.met |= kinds(right)

    def agree(self) -> None:
        self.run(agree(self.desk.admin, self.world))

    # --- People ---------------------------------------------------------------------------------

    def pk(self, who: int) -> int:
        return self.people[who].principal_id

    def place(self, person: int) -> int:
        """Return the place on the staff of a principal."""
        return next(who for who in range(len(self.people)) if self.pk(who) == person)

    def idle(self) -> list[int]:
        """Return who holds nothing."""
        return [who for who in range(len(self.people)) if self.world.live(self.pk(who)) is None]

    # --- What was seen --------------------------------------------------------------------------

    def shown(self, pick: int) -> dict[str, Any]:
        """Return a lease of now or of before: first those whose token still counts."""
        good = {item.token for item in self.world.open_items()}
        newest = self.leases[::-1]
        ordered = sorted(newest, key=lambda lease: lease["token"] not in good)
        return ordered[pick % len(ordered)]

    def finder(self) -> Callable[[str, int], int]:
        """Return what knows the ids that the database gave to the rounds of each content."""
        rows = self.run(self.desk.admin.fetch(ROUNDS))
        known = {(row["content_id"], row["round"]): row["id"] for row in rows}
        return lambda name, number: known[name, number]

    def banded(self) -> Callable[[str], int]:
        """Return what knows the id of the engine's decision on each content."""
        rows = self.run(self.desk.admin.fetch(FIRST))
        return {row["content_id"]: row["id"] for row in rows}.__getitem__

    def evidence(self) -> Callable[[str, int], str]:
        """Return what knows the hash of each revision of each content."""
        rows = self.run(self.desk.admin.fetch(SHOWN))
        known = {(row["content_id"], row["revision"]): row["hash"] for row in rows}
        return lambda name, number: known[name, number]


def saying(lease: dict[str, Any], verdict: str, **changed: str) -> Saying:
    """Return a verdict on a lease with which nothing is wrong but what is `changed`."""
    said = Saying(
        item=lease["item"],
        lease_token=lease["token"],
        verdict_token=str(uuid.uuid4()),
        evidence=lease["evidence"],
        verdict=verdict,
        reason=min(REASONS[verdict]),
    )
    return replace(said, **changed)  # type: ignore[arg-type] # the texts among its fields

"""What leads, producers and the house do at the same desk, in any order with what people do."""

from __future__ import annotations

import random

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from shared.vocabulary import TakeBackReason
from tests.model.choices import BODIES, FIRST, NOWHERE, QUEUES, picked
from tests.model.day import deed_of_a_day
from tests.model.ground import Ground
from tests.model.machine import PERSON, PICK, QueueMachine
from tests.model.reference.records import Item

TO = st.sampled_from([*QUEUES, *QUEUES, "attic", "nowhere"])
ITEMS = st.lists(PICK, min_size=1, max_size=4)
BACK = st.sampled_from([reason.value for reason in TakeBackReason])

has_contents = precondition(lambda machine: machine.play.world.contents)


class DeskMachine(QueueMachine):
    """A desk with five people, two of them leads, and a producer."""

    def item(self, pick: int) -> Item:
        """Return an item, first what is held, then what is open, newest first."""
        items = sorted(
            self.play.world.items.values(),
            key=lambda item: (item.owner is not None, item.state != "resolved", item.pk),
        )
        chosen: Item = picked(items, pick)
        return chosen

    def _strangers(self) -> list[int]:
        """Return an item that there is not, and the first that is over."""
        over = [item.pk for item in self.play.world.items.values() if item.state == "resolved"]
        return [NOWHERE, *over[:1]]

    def name(self, pick: int, first: str) -> str:
        """Return the name of a content: first what somebody holds, or has decided, or reviews."""
        world = self.play.world
        names = sorted(
            world.contents,
            key=lambda name: (self._is(name, first), world.last_round(name).pk),
        )
        chosen: str = picked(names, pick)
        return chosen

    def _is(self, name: str, wanted: str) -> bool:
        item = self.play.world.open_item(name)
        if wanted == "held":
            return item is not None and item.state != "queued"
        if wanted == "settled":
            return item is None
        return item is not None and self.play.world.contents[name].state == "in_review"

    # --- Leads ----------------------------------------------------------------------------------

    @has_contents
    @rule(lead=PERSON, pick=PICK, reason=BACK, before=st.integers(0, 2))
    def take_back(self, lead: int, pick: int, reason: str, before: int) -> None:
        """A lead takes back the lease that his list shows, which may be old."""
        item = self.item(pick)
        self.play.take_back(lead, item.pk, max(0, item.epoch - before), reason)

    @has_contents
    @rule(lead=PERSON, picks=ITEMS, to=TO, stranger=st.booleans())
    def move(self, lead: int, picks: list[int], to: str, stranger: bool) -> None:
        items = list(dict.fromkeys(self.item(pick).pk for pick in picks))
        self.play.move(lead, [*items, *self._strangers()] if stranger else items, to)

    @has_contents
    @rule(lead=PERSON, picks=ITEMS, stranger=st.booleans())
    def withdraw_items(self, lead: int, picks: list[int], stranger: bool) -> None:
        items = list(dict.fromkeys(self.item(pick).pk for pick in picks))
        self.play.withdraw_items(lead, [*self._strangers(), *items] if stranger else items)

    @has_contents
    @rule(lead=PERSON, pick=PICK, queue=st.none() | TO)
    def reopen(self, lead: int, pick: int, queue: str | None) -> None:
        self.play.reopen(lead, self.name(pick, "settled"), queue)

    # --- The producer ---------------------------------------------------------------------------

    @has_contents
    @rule(pick=PICK, first=st.sampled_from(FIRST), body=st.sampled_from(BODIES))
    def revise(self, pick: int, first: str, body: tuple[str, str]) -> None:
        self.play.revise(self.name(pick, first), body)

    @has_contents
    @rule(pick=PICK, first=st.sampled_from(FIRST))
    def withdraw(self, pick: int, first: str) -> None:
        self.play.withdraw(self.name(pick, first))

    # --- The house ------------------------------------------------------------------------------

    @rule()
    def redrive(self) -> None:
        self.play.redrive()

    @precondition(lambda self: self.play.world.waiting)
    @rule()
    def apply(self) -> None:
        self.play.apply()

    @rule(chance=st.randoms(use_true_random=False), deeds=st.integers(4, 15))
    def an_hour_of_work(self, chance: random.Random, deeds: int) -> None:
        """Many steps in the proportions of every day, which lead deeper than single ones do."""
        for _ in range(deeds):
            note(deed_of_a_day(self, chance))
            self.play.agree()


def machine_on(ground: Ground) -> type[DeskMachine]:
    """Return the machine that gets its databases from there."""
    return type("DeskMachineHere", (DeskMachine,), {"ground": ground})

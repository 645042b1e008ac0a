"""The deeds of leads, producers and the house, each done twice and compared."""

from __future__ import annotations

from collections.abc import Sequence

from tests.model.people import People
from tests.model.reference import house, leads, producers
from tests.model.reference.records import Told


class Others(People):
    """What is done to items from outside. Raises AssertionError as the deeds of people do."""

    # --- The producer ---------------------------------------------------------------------------

    def enqueue(self, rows: list[tuple[str, int]]) -> None:
        """Contents come in one batch, each with its queue and the power of ten of its followers."""
        self.turn(1)
        count = len(self.world.contents)
        new = [
            (f"c-{count + n}", queue, power, (f"text {power}", "hate" if power % 4 else "spam"))
            for n, (queue, power) in enumerate(rows)
        ]
        self.run(self.office.submit(new))
        find, evidence, first = self.finder(), self.evidence(), self.banded()
        for name, queue, power, body in new:
            producers.submit(
                self.world,
                producers.Submitted(name, queue, power, body),
                pk=find(name, 1),
                evidence=evidence(name, 1),
                decision=first(name),
            )

    def revise(self, name: str, body: tuple[str, str]) -> None:
        self.turn(1)
        told = self.run(self.office.revise(name, body))
        right = producers.revise(self.world, name, body, self.finder(), self.evidence())
        self.same(told, right)

    def withdraw(self, name: str) -> None:
        self.turn(1)
        told = self.run(self.office.withdraw(name))
        self.same(told, producers.withdraw(self.world, self.producer, name))

    # --- Leads ----------------------------------------------------------------------------------

    def take_back(self, who: int, item: int, epoch: int, reason: str) -> None:
        self.turn(1)
        told = self.run(self.office.take_back(self.people[who], item, epoch, reason))
        self.same(told, leads.take_back(self.world, self.pk(who), item, epoch, reason))

    def move(self, who: int, items: Sequence[int], to: str) -> None:
        self.turn(1)
        told = self.run(self.office.move(self.people[who], items, to))
        self.same(told, leads.move(self.world, self.pk(who), items, to))

    def withdraw_items(self, who: int, items: Sequence[int]) -> None:
        self.turn(1)
        told = self.run(self.office.withdraw_items(self.people[who], items))
        self.same(told, leads.withdraw_items(self.world, self.pk(who), items))

    def reopen(self, who: int, name: str, queue: str | None) -> None:
        self.turn(1)
        told = self.run(self.office.reopen(self.people[who], name, queue))
        self.same(told, leads.reopen(self.world, self.pk(who), name, queue, self.finder()))

    def look_at_health(self, who: int) -> None:
        """A lead sees of each queue that he leads what is true of it."""
        shown = self.run(self.office.health(self.people[who]))
        assert shown == {queue: self.world.health(queue) for queue in self.world.led[self.pk(who)]}

    # --- The house ------------------------------------------------------------------------------

    def redrive(self) -> None:
        self.turn(1)
        self.same(self.run(self.real.redrive()), house.redrive(self.world))

    def apply(self) -> Told:
        self.turn(1)
        told = self.run(self.real.apply())
        self.same(told, house.apply_due(self.world, self.finder()))
        return told

"""What leads do with items: take them back, move them, withdraw them, let people look again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.model.reference.ranks import SEVERITIES, rank
from tests.model.reference.records import DECIDED, STATES, TERMS, Item, Told
from tests.model.reference.world import World

FindRound = Callable[[str, int], int]
"""Knows the id that the database gave to a round of a content."""


def take_back(world: World, lead: int, pk: int, epoch: int, reason: str) -> Told:
    """The lease that is meant ends; its holder is kept away for a while, and is not counted."""
    item = world.items.get(pk)
    if item is None:
        return Told("not_found", {})
    if item.queue not in world.led[lead]:
        return Told("forbidden", {})
    before = [
        row for row in world.log if (row.item, row.happening, row.epoch) == (pk, "take_back", epoch)
    ]
    if before:
        assert before[0].person is not None
        return Told("taken_back", {"item": pk, "holder": world.names[before[0].person]})
    if item.owner is None or item.epoch != epoch:
        return Told("stale_lease", _now(world, item))
    holder = item.owner
    world.end(item, "take_back", by=lead, reason=reason)
    item.state = "queued"
    world.keep_away(item, holder, "released")
    return Told("taken_back", {"item": pk, "holder": world.names[holder]})


def _now(world: World, item: Item) -> dict[str, Any]:
    """What a lead is told whose list is old."""
    word, since, holder = "free", None, None
    if item.state == "resolved":
        word = "withdrawn" if item.resolution == "withdrawn" else "resolved"
        since = item.resolved
    elif item.state == "parked":
        word, since = "parked", item.parked
    elif world.alive(item):
        assert item.owner is not None
        word, since, holder = "leased", item.leased_at, world.names[item.owner]
    return {"now": word, "since": since, "holder": holder, "again": False}


def move(world: World, lead: int, items: Sequence[int], to: str) -> Told:
    """Each goes to the other queue as if nobody had left it; who held it holds it no longer."""
    refused = _refused(world, lead, to)
    return refused or _bulk(items, lambda pk: _move(world, lead, pk, to))


def _refused(world: World, lead: int, to: str) -> Told | None:
    """Nothing is sent to a queue that he does not lead; who leads all may know which there are."""
    if to not in world.led[lead] and (to in TERMS or world.led[lead] != set(TERMS)):
        return Told("forbidden", {})
    if to not in TERMS:
        return Told("not_found", {})
    return Told("queue_draining", {}) if TERMS[to].draining else None


def _bulk(items: Sequence[int], one: Callable[[int], str]) -> Told:
    done = {pk: one(pk) for pk in sorted(set(items))}
    return Told("bulk", {"rows": [(pk, done[pk]) for pk in items]})


def _move(world: World, lead: int, pk: int, to: str) -> str:
    item = world.items.get(pk)
    if item is None:
        return "not_found"
    if item.queue not in world.led[lead]:
        return "forbidden"
    if item.state == "resolved":
        return "resolved"
    if item.queue == to:
        return "unchanged"
    world.end(item, "move", by=lead)
    if item.state == "leased":
        item.state = "queued"
    item.queue, item.moved = to, world.now
    item.left_by, item.abandoned, item.stuck = [], False, None
    world.tell(item, "item.moved")
    return "done"


def withdraw_items(world: World, lead: int, items: Sequence[int]) -> Told:
    """Nobody needs to look at these any more."""
    return _bulk(items, lambda pk: _withdraw(world, lead, pk))


def _withdraw(world: World, lead: int, pk: int) -> str:
    item = world.items.get(pk)
    if item is None:
        return "not_found"
    if item.queue not in world.led[lead]:
        return "forbidden"
    if item.state == "resolved":
        return "unchanged" if item.resolution == "withdrawn" else "resolved"
    if world.contents[item.content].head in world.waiting:
        return "refused"
    world.withdraw(item, lead)
    settle(world, item.content)
    world.tell(item, "item.withdrawn")
    return "done"


def settle(world: World, name: str) -> None:
    """Nobody looks again after all: what was applied is the whole truth."""
    content = world.contents[name]
    if content.state == "in_review":
        assert content.applied is not None
        content.state = STATES[world.decisions[content.applied].outcome]


def reopen(world: World, lead: int, name: str, queue: str | None, find_round: FindRound) -> Told:
    """People look again, from now on."""
    content, last = world.contents[name], world.last_round(name)
    to = last.queue if queue is None else queue
    refused = _refused(world, lead, to)
    if refused is not None:
        return refused
    if last.queue not in world.led[lead]:
        return Told("forbidden", {})
    if world.open_item(name) is not None or content.head in world.waiting:
        return Told("not_reopenable", {})
    item = open_round(world, last, find_round, to, "reopen", first=world.now)
    return Told("reopened", {"content": name, "item": item.pk, "queue": to, "round": item.round})


def open_round(
    world: World, last: Item, find_round: FindRound, queue: str, source: str, *, first: int
) -> Item:
    """The next round of a content begins to wait; what was decided is in review."""
    content = world.contents[last.content]
    severity = last.severity if source == "reopen" else SEVERITIES[content.body[1]]
    item = Item(
        pk=find_round(last.content, last.round + 1),
        content=last.content,
        queue=queue,
        round=last.round + 1,
        rank=rank(severity, content.power, world.now),
        first=first,
        sla_from=world.now,
        source=source,
        severity=severity,
        revision=len(content.evidence),
    )
    world.items[item.pk] = item
    content.withdrawn = content.withdrawn_item = None
    if content.state in DECIDED:
        content.state = "in_review"
    world.tell(item, "item.queued")
    return item

"""Who gets what: a claim at one queue, and at several in a fair order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.model.reference.records import TERMS, Grant, Item, Told
from tests.model.reference.world import World


def claim(
    world: World,
    person: int,
    queue: str,
    key: str,
    token: str | None,
    terminal: str | None = None,
) -> Told:
    """Give back what has run out in this queue, then give the best of the rest to `person`.

    `token` is the one that the database made, if it granted anything.
    """
    if queue not in world.rooms[person]:
        return Told("forbidden", {})
    told = _take(world, person, [queue], Key(key, token, terminal))
    return told or Told("nothing", world.figures(person, queue))


def claim_any(
    world: World,
    person: int,
    queues: Sequence[str],
    key: str,
    token: str | None,
    terminal: str | None = None,
) -> Told:
    """Ask one queue after another, first the one that has used the most of its SLA."""
    if not set(queues) <= world.rooms[person]:
        return Told("forbidden", {})
    order = sorted(queues, key=lambda queue: (-share(world, queue), list(TERMS).index(queue)))
    told = _take(world, person, order, Key(key, token, terminal))
    figures = [world.figures(person, queue) for queue in order]
    return told or Told("nothing", {"queues": figures})


class Key(NamedTuple):
    """What a claim is known by, what it brings if it brings anything, and where it came from."""

    key: str
    token: str | None
    terminal: str | None


def _take(world: World, person: int, queues: Sequence[str], asked: Key) -> Told | None:
    """Tidy each queue that is asked until one gives something.

    What is woken is on offer from the next claim on, or if all had nothing.
    """
    held = world.live(person)
    for queue in queues:
        _tidy(world, queue)
        best = None if held else _best(world, person, queue)
        world.wake_due(queue)
        if best is not None:
            return _grant(world, best, person, asked)
    if held is not None:
        return _told_of_held(world, held, asked.key)
    for queue in queues:
        best = _best(world, person, queue)
        if best is not None:
            return _grant(world, best, person, asked)
    return None


def share(world: World, queue: str) -> float:
    """How much of its SLA a queue has used.

    That is the oldest of what waits, of what ran out first, and of what has been due for longest.
    """
    there = world.open_items(queue)
    since = [item.sla_from for item in world.offered(queue)]
    run_out = [item for item in there if world.run_out(item)]
    if run_out:
        since.append(min(run_out, key=lambda item: item.expires or 0).sla_from)
    due = [item for item in there if world.due(item)]
    if due:
        first = min(due, key=lambda item: item.wakes or 0)
        since.append(first.sla_from + world.now - (first.parked or 0))
    return (world.now - min(since)) / TERMS[queue].sla if since else -1.0


def _tidy(world: World, queue: str) -> None:
    for item in sorted(world.open_items(queue), key=lambda item: item.expires or 0):
        if world.run_out(item):
            world.lapse(item)


def _told_of_held(world: World, held: Item, key: str) -> Told:
    if held.key == key:
        return world.lease_of(held)
    left = (held.expires or 0) - world.now
    return Told("lease_held", {"item": held.pk, "queue": held.queue, "left": left})


def _best(world: World, person: int, queue: str) -> Item | None:
    mine_to_take = [i for i in world.offered(queue) if not world.shut_out(person, i)]
    return min(mine_to_take, key=lambda item: (-item.rank, item.pk), default=None)


def _grant(world: World, item: Item, person: int, asked: Key) -> Told:
    token = asked.token
    assert token is not None, f"item {item.pk} was there to be had and was not given"
    assert token not in world.grants, "a token was given twice"
    item.epoch += 1
    world.grants[token] = Grant(item.pk, person, world.now, item.epoch)
    item.state, item.owner, item.token, item.key = "leased", person, token, asked.key
    item.terminal = asked.terminal
    item.leased_at, item.expires = world.now, world.now + TERMS[item.queue].ttl
    item.ended = item.expires
    item.leases += 1
    world.note(item, "grant", person, token=token, expires=item.expires)
    return world.lease_of(item)

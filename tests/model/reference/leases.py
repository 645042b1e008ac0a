"""What the holder of a lease can do with it besides deciding: keep it, leave it, carry it over."""

from __future__ import annotations

from tests.model.reference.records import COUNTED, TERMS, Grant, Item, Parking, Question, Told
from tests.model.reference.stale import stale
from tests.model.reference.world import World

SHORTEST_REST = 60
MOST_PARKINGS = 20


def holds(world: World, person: int, pk: int, token: str) -> bool:
    """The fence and the owner, whatever the state."""
    item = world.items[pk]
    return (token, person) == (item.token, item.owner)


def renew(world: World, person: int, pk: int, token: str) -> Told:
    """More time for the holder, up to the longest hold, and never beside another live lease."""
    item = world.items[pk]
    if not holds(world, person, pk, token):
        return stale(world, person, pk, token)
    latest = _stretch(world, item)
    if latest > world.now:
        world.note(item, "renew", person, expires=item.expires)
    left = 0 if item.expires is None else item.expires - world.now
    return Told("renewed", {"left": left, "capped": world.now + TERMS[item.queue].ttl > latest})


def _latest(world: World, item: Item) -> int:
    """The latest moment that this lease may last; a second live lease may not last at all."""
    assert item.leased_at is not None
    assert item.owner is not None
    live = world.live(item.owner)
    beside = live is not None and live is not item
    return world.now if beside else item.leased_at + TERMS[item.queue].hold


def _stretch(world: World, item: Item) -> int:
    """Give as much time as there is; return the latest moment that it may last."""
    latest = _latest(world, item)
    if latest > world.now:
        item.state = "leased"
        item.expires = item.ended = min(world.now + TERMS[item.queue].ttl, latest)
    return latest


def release(world: World, person: int, pk: int, token: str, reason: str) -> Told:
    """The item goes back, its token is spent, and its holder is kept away for a while."""
    item = world.items[pk]
    if ended_by(world, person, pk, token, "release") is not None:
        return Told("released", {"item": pk})
    if not holds(world, person, pk, token):
        return stale(world, person, pk, token)
    world.end(item, "release", reason=reason)
    item.state = "queued"
    world.leave(item, person, "released", counts=reason in COUNTED)
    return Told("released", {"item": pk})


def ended_by(world: World, person: int, pk: int, token: str, happening: str) -> Grant | None:
    """Return what was granted, if its holder has done just this with it before."""
    grant = world.grants.get(token)
    same = grant is not None and (grant.item, grant.person, grant.end) == (pk, person, happening)
    return grant if same else None


def park(world: World, person: int, pk: int, token: str, asked: Parking) -> Told:
    """Set an item aside until a date or new evidence; its SLA stands still."""
    item = world.items[pk]
    before = ended_by(world, person, pk, token, "park")
    if before is not None:
        return Told("parked", {"item": pk, "wakes": before.wakes})
    if not holds(world, person, pk, token):
        return stale(world, person, pk, token)
    latest = world.now + TERMS[item.queue].park - item.rested
    wakes = latest if asked.until is None else asked.until
    if item.parkings >= MOST_PARKINGS or not world.now + SHORTEST_REST <= wakes <= latest:
        return Told("invalid_field", {"field": "until"})
    if not world.alive(item):
        return stale(world, person, pk, token)
    world.grants[token].wakes = wakes
    world.end(item, "park", reason=asked.reason, expires=wakes)
    item.state, item.parked, item.wakes = "parked", world.now, wakes
    item.parkings += 1
    world.tell(item, "item.parked")
    world.questions.append(
        Question(
            item=pk,
            person=person,
            reason=asked.reason,
            text=asked.text,
            asked=world.now,
            wakes=wakes,
        )
    )
    return Told("parked", {"item": pk, "wakes": wakes})


def take_over(world: World, person: int, key: str, token: str | None, terminal: str | None) -> Told:
    """What a person holds moves to his other terminal, under a token that the first lacks.

    `token` is the one that the database made, if it made one.
    """
    item = world.owned(person)
    if item is None:
        return Told("nothing", {})
    if item.key == key or not (world.alive(item) or _latest(world, item) > world.now):
        return world.lease_of(item)
    assert token is not None, "a lease was there to be taken over"
    assert token not in world.grants, "a token was given twice"
    assert item.token is not None
    old = world.grants[item.token]
    old.end, old.ended = "take_over", world.now
    item.epoch += 1
    world.grants[token] = Grant(item.pk, person, world.now, item.epoch)
    item.token, item.key, item.terminal = token, key, terminal
    _stretch(world, item)
    world.note(item, "take_over", person, token=token, expires=item.expires)
    return world.lease_of(item)

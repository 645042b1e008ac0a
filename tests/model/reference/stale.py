"""What somebody is told whose token is no fence any more."""

from __future__ import annotations

from typing import Any

from tests.model.reference.records import TERMS, Grant, Item, Told
from tests.model.reference.world import World


def stale(world: World, person: int, pk: int, token: str) -> Told:
    """All of it only if the token was his: what is true now, since when, and whether he may ask."""
    item, grant = world.items[pk], world.grants.get(token)
    if grant is None or (grant.item, grant.person) != (pk, person):
        return Told("stale_lease", {})
    word, since = _true_now(world, item, grant, person)
    facts: dict[str, Any] = {
        "now": word,
        "since": since,
        "holder": None,
        "again": word == "free" and could_have(world, person, item, token),
    }
    if word == "leased":
        assert item.owner is not None
        facts["holder"] = world.names[item.owner]
    return Told("stale_lease", facts)


def _true_now(world: World, item: Item, grant: Grant, person: int) -> tuple[str, int | None]:
    if item.state == "resolved":
        word = "withdrawn" if item.resolution == "withdrawn" else "resolved"
        return word, item.resolved
    if item.state == "parked":
        return "parked", item.parked
    return _went(item, grant) or _held(world, item, grant, person)


def _went(item: Item, grant: Grant) -> tuple[str, int] | None:
    """Return where it went since that token was given, if it did: the latest counts."""
    times = [("escalated", item.escalated), ("moved", item.moved)]
    since = [(word, at) for word, at in times if at is not None and at > grant.at]
    return max(since, key=lambda went: went[1], default=None)


def _held(world: World, item: Item, grant: Grant, person: int) -> tuple[str, int | None]:
    if item.owner is not None and item.owner != person and world.alive(item):
        return "leased", item.leased_at
    if item.owner == person and world.grants.get(item.token or "") is not grant:
        assert item.token is not None
        return "taken_over", world.grants[item.token].at
    if grant.end == "take_back":
        return "taken_back", grant.ended
    return "free", None


def could_have(world: World, person: int, item: Item, token: str) -> bool:
    """Whether a renewal with this token, or else a claim, could bring him this item now."""
    if world.live(person) not in (None, item) or item.queue not in world.rooms[person]:
        return False
    if item.token == token:
        assert item.leased_at is not None
        if item.leased_at + TERMS[item.queue].hold > world.now:
            return True
    free = item.state == "queued" and not item.abandoned
    return (free or _left_by_another(world, person, item)) and not world.shut_out(person, item)


def _left_by_another(world: World, person: int, item: Item) -> bool:
    """A lease that ran out, of somebody else, who is not one too many to leave it."""
    left = {*item.left_by, item.owner}
    few = item.stuck is not None or len(left) < TERMS[item.queue].threshold
    return world.run_out(item) and item.owner != person and few

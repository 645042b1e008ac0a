"""Every move of the queue in the reference model; each changes a world and says what is told."""

from __future__ import annotations

from collections.abc import Callable

from tests.model.reference import (
    COUNTED,
    OUTCOMES,
    STATES,
    TERMS,
    Content,
    Decision,
    Grant,
    Item,
    Saying,
    Told,
    World,
)


def enqueue(world: World, item: Item, evidence: str) -> None:
    """A new content comes with its first round."""
    world.items[item.pk] = item
    world.contents[item.content] = Content()
    world.evidence[item.content] = evidence


def claim(world: World, person: int, queue: str, key: str, token: str | None) -> Told:
    """Give back what has run out in this queue, then give the best of the rest to `person`.

    `token` is the one that the database made, if it granted anything.
    """
    if queue not in world.rooms[person]:
        return Told("forbidden", {})
    held = world.live(person)
    for item in sorted(world.open_items(queue), key=lambda item: item.expires or 0):
        if world.run_out(item):
            world.lapse(item)
    if held is not None and held.key == key:
        return world.lease_of(held)
    if held is not None:
        left = (held.expires or 0) - world.now
        return Told("lease_held", {"item": held.pk, "queue": held.queue, "left": left})
    mine_to_take = [i for i in world.offered(queue) if not world.shut_out(person, i)]
    if not mine_to_take:
        return Told("nothing", world.figures(person, queue))
    best = min(mine_to_take, key=lambda item: (-item.rank, item.pk))
    _grant(world, best, person, key, token)
    return world.lease_of(best)


def _grant(world: World, item: Item, person: int, key: str, token: str | None) -> None:
    assert token is not None, f"item {item.pk} was there to be had and was not given"
    assert token not in world.grants, "a token was given twice"
    for other in world.open_items():
        if (other.owner, other.key) == (person, key):
            other.key = None  # a claim is one lease: what it once brought has run out
    world.grants[token] = Grant(item.pk, person, world.now)
    item.state, item.owner, item.token, item.key = "leased", person, token, key
    item.leased_at, item.expires = world.now, world.now + TERMS[item.queue].ttl
    item.ended = item.expires
    item.leases += 1
    world.log.append((item.pk, "grant", person, token, None))


def renew(world: World, person: int, pk: int, token: str) -> Told:
    """More time for the holder, up to the longest hold, and never beside another live lease."""
    item = world.items[pk]
    if token != item.token or person != item.owner:
        return world.stale(person, pk, token)
    terms = TERMS[item.queue]
    assert item.leased_at is not None
    live = world.live(person)
    beside = live is not None and live is not item
    latest = world.now if beside else item.leased_at + terms.hold
    if latest > world.now:
        item.state = "leased"
        item.expires = item.ended = min(world.now + terms.ttl, latest)
        world.log.append((pk, "renew", person, None, None))
    left = 0 if item.expires is None else item.expires - world.now
    return Told("renewed", {"left": left, "capped": world.now + terms.ttl > latest})


def release(world: World, person: int, pk: int, token: str, reason: str) -> Told:
    """The item goes back, its token is spent, and its holder is kept away for a while."""
    item = world.items[pk]
    if token != item.token or person != item.owner:
        return world.stale(person, pk, token)
    world.let_go(item)
    item.state = "queued"
    world.log.append((pk, "release", person, None, reason))
    world.leave(item, person, "released", counts=reason in COUNTED)
    return Told("released", {"item": pk})


def verdict(world: World, person: int, said: Saying, decision: int | None) -> Told:
    """Replay, fence, owner, lateness, evidence, reason, and only then the decision.

    `decision` is the id that the database gave it, if it recorded one.
    """
    before = world.replies.get((person, said.verdict_token))
    if before is not None:
        first, made = before
        if first != said:
            return Told("verdict_conflict", {"decision": made.pk, "verdict": made.verdict})
        return _decided(world, made, replayed=True)
    item = world.items[said.item]
    if item.token != said.lease_token:
        return world.stale(person, said.item, said.lease_token)
    if item.owner != person:
        world.tell(item, "verdict.refused")
        return Told("wrong_owner", {})
    refused = _refused(world, item, said)
    if refused is not None:
        return refused
    made = _decide(world, item, person, said, decision)
    return _decided(world, made, replayed=False)


def _refused(world: World, item: Item, said: Saying) -> Told | None:
    terms = TERMS[item.queue]
    if _late(world, item) > terms.late_cap:
        return Told("stale_lease", {"late_cap": terms.late_cap})
    if said.evidence != world.evidence[item.content]:
        return Told("evidence_changed", {"evidence": world.evidence[item.content]})
    if said.verdict not in terms.verdicts or said.reason not in world.reasons[said.verdict]:
        return Told("reason_not_admitted", {})
    return None


def _late(world: World, item: Item) -> int:
    assert item.ended is not None
    return max(0, world.now - item.ended)


def _decide(world: World, item: Item, person: int, said: Saying, pk: int | None) -> Decision:
    assert pk is not None, "a verdict was good and was not recorded"
    assert pk not in world.decisions, "a decision was recorded twice"
    content = world.contents[item.content]
    made = Decision(
        pk=pk,
        content=item.content,
        item=item.pk,
        person=person,
        verdict=said.verdict,
        token=said.lease_token,
        supersedes=content.head,
        late=_late(world, item),
        at=world.now,
        due=world.now + TERMS[item.queue].undo,
    )
    leased_at = item.leased_at
    world.let_go(item)
    item.leased_at = leased_at
    item.state = "resolved"
    content.head = pk
    world.tell(item, "decision.recorded")
    world.decisions[pk] = made
    world.replies[person, said.verdict_token] = (said, made)
    world.waiting.append(pk)
    return made


def _decided(world: World, made: Decision, *, replayed: bool) -> Told:
    later = [other.pk for other in world.decisions.values() if other.supersedes == made.pk]
    facts = {
        "decision": made.pk,
        "item": made.item,
        "content": made.content,
        "verdict": made.verdict,
        "outcome": OUTCOMES[made.verdict],
        "late": made.late,
        "at": made.at,
        "due": made.due,
        "replayed": replayed,
        "superseded_by": later[0] if later else None,
    }
    return Told("decided", facts)


def redrive(world: World) -> Told:
    """Give back every run-out lease; move up, once, what enough people left, or mark it stuck."""
    run_out = [item for item in world.open_items() if world.run_out(item)]
    for item in run_out:
        world.lapse(item)
    moved = stuck = 0
    for item in world.open_items():
        if item.state != "queued" or not item.abandoned:
            continue
        item.abandoned = False
        above = TERMS[item.queue].above
        if above is None or item.escalated is not None:
            item.stuck = world.now
            stuck += 1
        else:
            _move_up(world, item, above)
            moved += 1
    return Told("redriven", {"given_back": len(run_out), "escalated": moved, "stuck": stuck})


def _move_up(world: World, item: Item, above: str) -> None:
    item.rank += TERMS[item.queue].boost
    item.queue, item.escalated, item.left_by = above, world.now, []
    world.let_go(item)
    world.tell(item, "item.escalated")


def apply_due(world: World, find_round: Callable[[str, int], int]) -> Told:
    """The oldest decision of each content takes effect if it is due.

    `find_round` knows the id that the database gave to a content's next round.
    """
    first: dict[str, Decision] = {}
    for pk in world.waiting:
        first.setdefault(world.decisions[pk].content, world.decisions[pk])
    due = [made for made in first.values() if made.due <= world.now]
    for made in due:
        world.waiting.remove(made.pk)
        _take_effect(world, made, find_round)
    return Told("applied", {"count": len(due)})


def _take_effect(world: World, made: Decision, find_round: Callable[[str, int], int]) -> None:
    content, item = world.contents[made.content], world.items[made.item]
    outcome = OUTCOMES[made.verdict]
    assert content.head == made.pk, "nothing here is superseded before it takes effect"
    world.tell(item, "decision.applied")
    if outcome != "none":
        content.state, content.applied = STATES[outcome], made.pk
        return
    pk = find_round(made.content, item.round + 1)
    terms = TERMS[item.queue]
    world.items[pk] = Item(
        pk=pk,
        content=item.content,
        queue=terms.above or item.queue,
        round=item.round + 1,
        rank=item.rank + terms.boost,
        first=item.first,
        escalated=world.now,
    )
    world.tell(item, "item.queued")

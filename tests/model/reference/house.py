"""What the house does by itself: give back, wake, move up, and let verdicts take effect."""

from __future__ import annotations

from tests.model.reference.leads import FindRound
from tests.model.reference.records import STATES, TERMS, Decision, Item, Told
from tests.model.reference.world import World


def redrive(world: World) -> Told:
    """Give back every run-out lease; move up, once, what enough people left, or mark it stuck."""
    run_out = [item for item in world.open_items() if world.run_out(item)]
    for item in run_out:
        world.lapse(item)
    woken = world.wake_due()
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
    facts = {"given_back": len(run_out), "woken": woken, "escalated": moved, "stuck": stuck}
    return Told("redriven", facts)


def _move_up(world: World, item: Item, above: str) -> None:
    item.rank += TERMS[item.queue].boost
    if item.token is None:
        item.epoch += 1
    world.end(item, "escalate")
    item.queue, item.escalated, item.left_by = above, world.now, []
    world.tell(item, "item.escalated")


def apply_due(world: World, find_round: FindRound) -> Told:
    """The oldest decision of each content takes effect if it is due."""
    first: dict[str, Decision] = {}
    for pk in world.waiting:
        first.setdefault(world.decisions[pk].content, world.decisions[pk])
    due = [made for made in first.values() if made.due <= world.now]
    for made in due:
        world.waiting.remove(made.pk)
        _take_effect(world, made, find_round)
    return Told("applied", {"count": len(due)})


def _take_effect(world: World, made: Decision, find_round: FindRound) -> None:
    assert made.item is not None
    content, item = world.contents[made.content], world.items[made.item]
    if content.head != made.pk:
        world.skipped.add(made.pk)
        world.tell(item, "decision.skipped")
        return
    world.tell(item, "decision.applied")
    if made.outcome != "none":
        content.state, content.applied = STATES[made.outcome], made.pk
        if any(each.content == made.content for each in world.open_items()):
            content.state = "in_review"  # new evidence came before the verdict on the old held
        return
    _next_round(world, item, find_round)


def _next_round(world: World, item: Item, find_round: FindRound) -> None:
    terms = TERMS[item.queue]
    pk = find_round(item.content, item.round + 1)
    world.items[pk] = Item(
        pk=pk,
        content=item.content,
        queue=terms.above or item.queue,
        round=item.round + 1,
        rank=item.rank + terms.boost,
        first=item.first,
        sla_from=item.sla_from,
        source="escalation",
        severity=item.severity,
        revision=len(world.contents[item.content].evidence),
        escalated=world.now,
    )
    world.tell(item, "item.queued")

"""A verdict: replay, fence, owner, lateness, evidence, reason, and only then the decision."""

from __future__ import annotations

from tests.model.reference.records import OUTCOMES, TERMS, Decision, Item, Saying, Told
from tests.model.reference.stale import stale
from tests.model.reference.world import World


def verdict(world: World, person: int, said: Saying, decision: int | None) -> Told:
    """Replay, fence, owner, lateness, evidence, reason, and only then the decision.

    `decision` is the id that the database gave it, if it recorded one.
    """
    before = world.replies.get((person, said.verdict_token))
    if before is not None:
        first, made = before
        if first != said:
            world.tell(world.items[first.item], "verdict.refused")
            return Told("verdict_conflict", {"decision": made.pk, "verdict": made.verdict})
        return _decided(world, made, replayed=True)
    item = world.items[said.item]
    if item.token != said.lease_token:
        return stale(world, person, said.item, said.lease_token)
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
    if said.evidence != world.evidence(item):
        return _changed(world, item, said)
    if said.verdict not in terms.verdicts or said.reason not in world.reasons[said.verdict]:
        return Told("reason_not_admitted", {})
    return None


def _changed(world: World, item: Item, said: Saying) -> Told:
    """What he did not see; nothing can be compared if what he saw was never shown."""
    shown = world.contents[item.content].evidence
    known = said.evidence in shown
    facts = {
        "evidence": world.evidence(item),
        "revision": item.revision,
        "before": shown.index(said.evidence) + 1 if known else None,
    }
    return Told("evidence_changed", facts)


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
        outcome=OUTCOMES[said.verdict],
        token=said.lease_token,
        supersedes=content.head,
        late=_late(world, item),
        at=world.now,
        due=world.now + TERMS[item.queue].undo,
    )
    world.grants[said.lease_token].end = "decision"
    leased_at = item.leased_at
    world.let_go(item)
    item.leased_at = leased_at
    item.state, item.resolution, item.resolved = "resolved", "decided", world.now
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
        "outcome": made.outcome,
        "late": made.late,
        "at": made.at,
        "due": made.due,
        "replayed": replayed,
        "superseded_by": later[0] if later else None,
    }
    return Told("decided", facts)

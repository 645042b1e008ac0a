"""What producers do: bring contents, show something new of them, take them away."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.model.reference.leads import FindRound, open_round, settle
from tests.model.reference.ranks import SEVERITIES, rank
from tests.model.reference.records import TERMS, Content, Decision, Item, Told
from tests.model.reference.world import World


class Submitted(NamedTuple):
    """A content as it comes: what it shows, and the power of ten of its author's followers."""

    name: str
    queue: str
    power: int
    body: tuple[str, str]


def submit(world: World, sent: Submitted, *, pk: int, evidence: str, decision: int) -> None:
    """The engine is in doubt and holds it; people look at it in their order."""
    severity = SEVERITIES[sent.body[1]]
    world.items[pk] = Item(
        pk=pk,
        content=sent.name,
        queue=sent.queue,
        round=1,
        rank=rank(severity, sent.power, world.now),
        first=world.now,
        sla_from=world.now,
        severity=severity,
    )
    world.decisions[decision] = Decision(
        pk=decision, content=sent.name, outcome="hold", at=world.now, due=world.now
    )
    world.contents[sent.name] = Content(
        queue=sent.queue,
        power=sent.power,
        body=sent.body,
        evidence=[evidence],
        head=decision,
        applied=decision,
        events=["content.submitted", "decision.applied", "item.queued"],
    )


def revise(
    world: World,
    name: str,
    body: tuple[str, str],
    find_round: FindRound,
    find_evidence: Callable[[str, int], str],
) -> Told:
    """Show something new: whoever holds it keeps it, and what was settled is looked at again.

    What was taken away comes back, also as it was.
    """
    content, item = world.contents[name], world.open_item(name)
    changed = body != content.body or content.withdrawn is not None
    reopened = False
    if changed:
        content.body = body
        content.evidence.append(find_evidence(name, len(content.evidence) + 1))
        content.events.append("evidence.revised")
        if item is not None:
            _show(world, item)
        elif _reopens(world, name):
            item, reopened = _open(world, name, find_round), True
    facts = {
        "content": name,
        "state": content.state,
        "revision": len(content.evidence),
        "changed": changed,
        "item": None if item is None else item.pk,
        "reopened": reopened,
    }
    return Told("revised", facts)


def _reopens(world: World, name: str) -> bool:
    """What is on its way up shows it there; the rest as the terms say of where it was sent."""
    content = world.contents[name]
    head = world.decisions[content.head or 0]
    escalating = head.verdict == "escalate" and head.pk in world.waiting
    return not escalating and (content.withdrawn is not None or TERMS[content.queue].reopens)


def decided(world: World, name: str) -> bool:
    """Whether a person has ever decided on it."""
    return any(made.content == name and made.person for made in world.decisions.values())


def _show(world: World, item: Item) -> None:
    content = world.contents[item.content]
    item.revision = len(content.evidence)
    if item.state == "parked":
        world.wake(item)
    if item.state == "queued" and not decided(world, item.content):
        _rank_anew(item, SEVERITIES[content.body[1]])


def _rank_anew(item: Item, severity: int) -> None:
    """It is as grave as it now looks; what it has waited, and its boosts, it keeps."""
    item.rank += (severity - item.severity) * 10
    item.severity = severity


def _open(world: World, name: str, find_round: FindRound) -> Item:
    """It begins to wait now, and its first round began when it began."""
    first = min(item.first for item in world.items.values() if item.content == name)
    to = world.contents[name].queue
    return open_round(world, world.last_round(name), find_round, to, "evidence", first=first)


def withdraw(world: World, producer: int, name: str) -> Told:
    """The producer takes a content away before people have decided."""
    content, item = world.contents[name], world.open_item(name)
    if content.withdrawn is None:
        settled = item is None and content.state != "pending"
        if settled or content.head in world.waiting:
            return Told("no_open_item", {})
        if item is not None:
            world.withdraw(item, producer)
            settle(world, name)
            content.withdrawn_item = item.pk
        content.withdrawn = world.now
        content.events.append("content.withdrawn")
    facts = {"content": name, "item": content.withdrawn_item, "at": content.withdrawn}
    return Told("withdrawn", facts)

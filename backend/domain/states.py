"""Both state machines and the precedence rule: who may change what into what.

Content: `HOLD` and a reopening never take an action back; they only send people to look, so the
old action stays in force under `in_review` and `appealed`. Items: resolved is final for the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from shared.vocabulary import Actor, ContentState, ItemSource, ItemState, Outcome, Verdict

_STRENGTH: Mapping[Actor, int] = MappingProxyType(
    {Actor.RULES: 1, Actor.MODEL: 1, Actor.REVIEWER: 2, Actor.APPEAL: 3}
)

ENGINE_ACTORS = frozenset({Actor.RULES, Actor.MODEL})
"""The actors that are no person."""

_SETTLED: Mapping[Outcome, ContentState] = MappingProxyType(
    {
        Outcome.ALLOW: ContentState.ALLOWED,
        Outcome.LIMIT: ContentState.LIMITED,
        Outcome.REMOVE: ContentState.REMOVED,
        Outcome.VALUE: ContentState.ALLOWED,  # decided for; the value says how, a tier for example
    }
)

_DECIDED = frozenset({ContentState.ALLOWED, ContentState.REMOVED, ContentState.LIMITED})
_PEOPLE_LOOK = frozenset({ContentState.IN_REVIEW, ContentState.APPEALED})

ITEM_EDGES: Mapping[ItemState, frozenset[ItemState]] = MappingProxyType(
    {
        # A claim or renewal; a move, escalation or take-back; a late verdict or a withdrawal.
        ItemState.QUEUED: frozenset({ItemState.LEASED, ItemState.QUEUED, ItemState.RESOLVED}),
        # A release, lapse, take-back or move; a renewal, take-over or undo; parking; a verdict or
        # a withdrawal.
        ItemState.LEASED: frozenset(
            {ItemState.QUEUED, ItemState.LEASED, ItemState.PARKED, ItemState.RESOLVED}
        ),
        # The time to wake, or new evidence; a move; a withdrawal.
        ItemState.PARKED: frozenset({ItemState.QUEUED, ItemState.PARKED, ItemState.RESOLVED}),
        ItemState.RESOLVED: frozenset(),
    }
)
"""From each state of an item, the states that one step may lead to."""


class IllegalTransition(ValueError):  # noqa: N818 - says what it is
    """A step that no edge of the state machine allows; always a fault of the caller."""


def may_supersede(new_actor: Actor, old_actor: Actor | None) -> bool:
    """Tell whether a decision of `new_actor` may replace one of `old_actor` (None: there is none).

    Engine < reviewer < appeal; equals may correct each other, and rules and models are one engine:
    a hash that becomes known later may remove what a model let pass, and flips nothing that a
    person allowed. The trigger `precedence` holds the same rule; a test compares the two.
    """
    return old_actor is None or _STRENGTH[new_actor] >= _STRENGTH[old_actor]


def engine_may_act(state: ContentState, in_force: Actor | None, *, leased: bool) -> bool:
    """Tell whether rules and models may change this content at all.

    They are deaf while a person holds it, once a person has decided it (from the verdict on, so
    `in_force` is the actor of the head of the chain, applied or not), and while people look again.
    """
    by_engine = in_force is None or in_force in ENGINE_ACTORS
    return by_engine and not leased and state not in _PEOPLE_LOOK


def next_state(current: ContentState, outcome: Outcome, actor: Actor) -> ContentState:
    """Return the state of a content once a decision with `outcome` by `actor` has been applied.

    Raises IllegalTransition when an engine decides what people are looking at, or when anything
    but an appeal settles an appealed content. Whether the decision outranks the one in force is
    `may_supersede`'s to say.
    """
    if outcome is Outcome.NONE:
        return current
    if current in _PEOPLE_LOOK and actor in ENGINE_ACTORS:
        raise IllegalTransition(f"{actor} decides nothing that is {current}")
    if current is ContentState.APPEALED and actor is not Actor.APPEAL:
        raise IllegalTransition(f"{actor} settles no appeal")
    if outcome is Outcome.HOLD:
        return ContentState.IN_REVIEW if current in _DECIDED else current
    return _SETTLED[outcome]


def reopened(current: ContentState, source: ItemSource) -> ContentState:
    """Return the state of a content for which a round of this source opens.

    An appeal makes it `appealed`; anything else makes what was decided `in_review` and leaves the
    rest as it is. Raises IllegalTransition for an appeal against what was never decided.
    """
    if source is ItemSource.APPEAL:
        if current is ContentState.PENDING:
            raise IllegalTransition("there is no decision to appeal against")
        return ContentState.APPEALED
    return ContentState.IN_REVIEW if current in _DECIDED else current


def withdrawn(current: ContentState, settled: Outcome | None) -> ContentState:
    """Return the state of a content whose open round was withdrawn, so that nobody looks any more.

    What was `in_review` is again what `settled` made it: the newest outcome that took effect and
    was neither hold nor none. Raises IllegalTransition if there is none.
    """
    if current is not ContentState.IN_REVIEW:
        return current
    if settled is None or settled not in _SETTLED:
        raise IllegalTransition("what is in review was settled before")
    return _SETTLED[settled]


def applied_state(
    current: ContentState, outcome: Outcome, actor: Actor, open_round: ItemSource | None
) -> ContentState:
    """Return the state once a decision has been applied while a round may be open (None: none is).

    New evidence may have brought the content before people again before the decision on the old
    took effect: then it is in force, and they look. Raises as `next_state` does.
    """
    settled = next_state(current, outcome, actor)
    if open_round is None or settled not in _DECIDED:
        return settled
    return reopened(settled, open_round)


def may_move(current: ItemState, following: ItemState) -> bool:
    """Tell whether one step may lead an item from `current` to `following`."""
    return following in ITEM_EDGES[current]


_SAID: Mapping[Verdict, Outcome] = MappingProxyType(
    {
        Verdict.APPROVE: Outcome.ALLOW,
        Verdict.LIMIT: Outcome.LIMIT,
        Verdict.REJECT: Outcome.REMOVE,
        Verdict.ESCALATE: Outcome.NONE,
    }
)

_REVERSED: Mapping[Outcome, Outcome] = MappingProxyType(
    {
        Outcome.ALLOW: Outcome.REMOVE,
        Outcome.LIMIT: Outcome.ALLOW,
        Outcome.REMOVE: Outcome.ALLOW,
    }
)


def outcome_of(verdict: Verdict, in_force: Outcome | None) -> Outcome:
    """Return what holds after `verdict`, given the outcome in force (None: nothing was decided).

    `uphold` repeats what is in force and `overturn` reverses it; both raise IllegalTransition where
    there is nothing to uphold or reverse.
    """
    if verdict in _SAID:
        return _SAID[verdict]
    if in_force is None or in_force not in _REVERSED:
        raise IllegalTransition(f"{verdict} needs a decision in force")
    return in_force if verdict is Verdict.UPHOLD else _REVERSED[in_force]

"""Both state machines and the precedence, pair by pair."""

from __future__ import annotations

from itertools import product

import pytest

from backend.domain.states import (
    ITEM_EDGES,
    IllegalTransition,
    engine_may_act,
    may_move,
    may_supersede,
    next_state,
    outcome_of,
    reopened,
    withdrawn,
)
from shared.vocabulary import Actor, ContentState, ItemSource, ItemState, Outcome, Verdict

ORDER = [Actor.RULES, Actor.MODEL, Actor.REVIEWER, Actor.APPEAL]
PENDING, ALLOWED, REMOVED, LIMITED, IN_REVIEW, APPEALED = ContentState
SETTLING = {
    Outcome.ALLOW: ALLOWED,
    Outcome.LIMIT: LIMITED,
    Outcome.REMOVE: REMOVED,
    Outcome.VALUE: ALLOWED,
}


@pytest.mark.parametrize(("new", "old"), list(product(ORDER, ORDER)))
def test_only_an_equal_or_stronger_actor_supersedes(new: Actor, old: Actor) -> None:
    engine = {Actor.RULES, Actor.MODEL}
    stronger = ORDER.index(new) >= ORDER.index(old)
    assert may_supersede(new, old) == (stronger or {new, old} == engine)


@pytest.mark.parametrize("new", ORDER)
def test_anybody_may_be_first(new: Actor) -> None:
    assert may_supersede(new, None)


@pytest.mark.parametrize(
    ("state", "in_force", "leased", "may"),
    [
        (PENDING, None, False, True),
        (PENDING, None, True, False),
        (ALLOWED, Actor.MODEL, False, True),
        (REMOVED, Actor.RULES, False, True),
        (ALLOWED, Actor.MODEL, True, False),
        (ALLOWED, Actor.REVIEWER, False, False),
        (PENDING, Actor.REVIEWER, False, False),  # a verdict recorded, not yet applied
        (REMOVED, Actor.APPEAL, False, False),
        (IN_REVIEW, Actor.MODEL, False, False),
        (APPEALED, Actor.MODEL, False, False),
    ],
)
def test_models_are_deaf_while_people_hold_or_have_decided(
    state: ContentState, in_force: Actor | None, leased: bool, may: bool
) -> None:
    assert engine_may_act(state, in_force, leased=leased) is may


@pytest.mark.parametrize(("current", "actor"), list(product(ContentState, Actor)))
@pytest.mark.parametrize("outcome", list(SETTLING))
def test_a_settling_outcome_leads_to_its_state_unless_people_are_looking(
    current: ContentState, actor: Actor, outcome: Outcome
) -> None:
    by_engine = actor in (Actor.RULES, Actor.MODEL)
    illegal = (current is IN_REVIEW and by_engine) or (
        current is APPEALED and actor is not Actor.APPEAL
    )
    if illegal:
        with pytest.raises(IllegalTransition):
            next_state(current, outcome, actor)
    else:
        assert next_state(current, outcome, actor) is SETTLING[outcome]


@pytest.mark.parametrize(
    ("current", "after"),
    [
        (PENDING, PENDING),
        (ALLOWED, IN_REVIEW),
        (REMOVED, IN_REVIEW),
        (LIMITED, IN_REVIEW),
        (IN_REVIEW, IN_REVIEW),
    ],
)
def test_a_hold_takes_no_action_back(current: ContentState, after: ContentState) -> None:
    assert next_state(current, Outcome.HOLD, Actor.REVIEWER) is after


@pytest.mark.parametrize(("current", "actor"), list(product(ContentState, Actor)))
def test_an_outcome_of_none_changes_nothing(current: ContentState, actor: Actor) -> None:
    assert next_state(current, Outcome.NONE, actor) is current


def test_nothing_leads_back_to_pending() -> None:
    reached = set()
    for current, outcome, actor in product(set(ContentState) - {PENDING}, Outcome, Actor):
        try:
            reached.add(next_state(current, outcome, actor))
        except IllegalTransition:
            continue
    assert reached == set(ContentState) - {PENDING}


@pytest.mark.parametrize("current", [ALLOWED, REMOVED, LIMITED, IN_REVIEW, APPEALED])
def test_an_appeal_reopens_what_was_decided(current: ContentState) -> None:
    assert reopened(current, ItemSource.APPEAL) is APPEALED


def test_there_is_no_appeal_against_no_decision() -> None:
    with pytest.raises(IllegalTransition):
        reopened(PENDING, ItemSource.APPEAL)


@pytest.mark.parametrize(
    ("current", "after"),
    [(PENDING, PENDING), (ALLOWED, IN_REVIEW), (IN_REVIEW, IN_REVIEW), (APPEALED, APPEALED)],
)
@pytest.mark.parametrize("source", [ItemSource.EVIDENCE, ItemSource.RULE])
def test_new_evidence_sends_people_to_look_again(
    current: ContentState, after: ContentState, source: ItemSource
) -> None:
    assert reopened(current, source) is after


@pytest.mark.parametrize(("current", "following"), list(product(ItemState, ItemState)))
def test_items_move_along_their_edges_only(current: ItemState, following: ItemState) -> None:
    legal = {
        ("queued", "queued"),
        ("queued", "leased"),
        ("queued", "resolved"),
        ("leased", "queued"),
        ("leased", "leased"),
        ("leased", "parked"),
        ("leased", "resolved"),
        ("parked", "queued"),
        ("parked", "parked"),  # a move
        ("parked", "resolved"),
    }
    assert may_move(current, following) == ((current, following) in legal)


def test_resolved_is_final_and_the_table_knows_every_state() -> None:
    assert ITEM_EDGES[ItemState.RESOLVED] == frozenset()
    assert set(ITEM_EDGES) == set(ItemState)


@pytest.mark.parametrize(
    ("verdict", "in_force", "outcome"),
    [
        (Verdict.APPROVE, None, Outcome.ALLOW),
        (Verdict.LIMIT, Outcome.ALLOW, Outcome.LIMIT),
        (Verdict.REJECT, None, Outcome.REMOVE),
        (Verdict.ESCALATE, Outcome.HOLD, Outcome.NONE),
        (Verdict.UPHOLD, Outcome.REMOVE, Outcome.REMOVE),
        (Verdict.UPHOLD, Outcome.LIMIT, Outcome.LIMIT),
        (Verdict.OVERTURN, Outcome.REMOVE, Outcome.ALLOW),
        (Verdict.OVERTURN, Outcome.LIMIT, Outcome.ALLOW),
        (Verdict.OVERTURN, Outcome.ALLOW, Outcome.REMOVE),
    ],
)
def test_what_a_verdict_leads_to(
    verdict: Verdict, in_force: Outcome | None, outcome: Outcome
) -> None:
    assert outcome_of(verdict, in_force) is outcome


@pytest.mark.parametrize("in_force", [None, Outcome.HOLD, Outcome.NONE])
@pytest.mark.parametrize("verdict", [Verdict.UPHOLD, Verdict.OVERTURN])
def test_nothing_can_be_upheld_or_overturned_where_nothing_was_decided(
    verdict: Verdict, in_force: Outcome | None
) -> None:
    with pytest.raises(IllegalTransition):
        outcome_of(verdict, in_force)


@pytest.mark.parametrize("current", ContentState)
@pytest.mark.parametrize("settled", [*SETTLING, None])
def test_a_withdrawn_round_leaves_what_was_settled_before_it(
    current: ContentState, settled: Outcome | None
) -> None:
    if current is not IN_REVIEW:
        assert withdrawn(current, settled) is current
    elif settled is None:
        with pytest.raises(IllegalTransition):
            withdrawn(current, settled)
    else:
        assert withdrawn(current, settled) is SETTLING[settled]


@pytest.mark.parametrize("settled", [Outcome.HOLD, Outcome.NONE])
def test_what_settles_nothing_is_never_gone_back_to(settled: Outcome) -> None:
    with pytest.raises(IllegalTransition):
        withdrawn(IN_REVIEW, settled)

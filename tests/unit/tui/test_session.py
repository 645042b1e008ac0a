"""The session moves only along its arrows; a late answer never moves it elsewhere."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.evidence import ShownRuleHit
from shared.vocabulary import Outcome, Verdict
from shared.wire.queue import DecisionPart, QueueFigures, VerdictRequest
from tests.tui import samples
from tui.state.countdown import Countdown, Renewal
from tui.state.events import (
    ClaimSent,
    Event,
    EvidenceMoved,
    GivenBack,
    InputSeen,
    Leased,
    LeaseRenewed,
    LeaseStale,
    Noted,
    NothingFree,
    NotProven,
    NotRecorded,
    Recorded,
    Taken,
    Troubled,
    VerdictMeant,
)
from tui.state.held import Held, StaleFacts, Why
from tui.state.offers import conflict, offers_for
from tui.state.pending import Pending
from tui.state.session import (
    Changed,
    Claiming,
    Idle,
    Reviewing,
    Session,
    Stale,
    Submitting,
    Unshowable,
    advance,
    frozen,
    held_item,
)

LEASE = samples.lease(samples.evidence())
HELD = Held(LEASE, samples.evidence(), Countdown(180, 180), Renewal(0))
PENDING = Pending(
    item_id=LEASE.item_id, content_id=LEASE.content_id, queue="posts",
    request=VerdictRequest(
        lease_token=LEASE.lease_token, verdict_token=LEASE.lease_token,
        evidence_hash=LEASE.evidence_hash, verdict=Verdict.REJECT, reason="spam", note="n",
    ),
)  # fmt: skip
NOW = datetime(2026, 11, 28, tzinfo=UTC)
DECISION = DecisionPart(
    decision_id="1", item_id="1", content_id="c", verdict=Verdict.REJECT, outcome=Outcome.REMOVE,
    reason="spam", recorded_at=NOW, takes_effect_at=NOW,
)  # fmt: skip
FIGURES = QueueFigures(queue="posts", free=0, held=1)
FACTS = StaleFacts("leased")
SUBMITTING = Submitting(PENDING, HELD, 5.0)
STATES: dict[str, Session] = {
    "idle": Idle(Why.EMPTY),
    "claiming": Claiming("k", 1.0),
    "reviewing": Reviewing(HELD),
    "submitting": SUBMITTING,
    "left over": Submitting(PENDING, None, 5.0),
    "stale": Stale(PENDING, FACTS, HELD),
    "changed": Changed(PENDING, HELD, HELD),
    "changed and gone": Changed(PENDING, HELD, None),
    "unshowable": Unshowable(LEASE, "why"),
}
EVENTS: list[Event] = [
    ClaimSent("k2", 2.0), Leased(HELD), NotProven(LEASE, "why"), NothingFree(FIGURES),
    Troubled(9.0, "no"), VerdictMeant(PENDING, 3.0), Recorded(DECISION), LeaseStale(FACTS),
    EvidenceMoved(HELD), NotRecorded("words"), InputSeen(4.0), Noted("n"), GivenBack(Why.RELEASED),
    LeaseRenewed(LEASE.lease_token, Countdown(400, 180), False, 6.0), Taken(),
]  # fmt: skip


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_is_taken_in_every_state(state: Session, event: Event) -> None:
    assert isinstance(advance(state, event), Session)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_while_the_outcome_is_unknown_only_an_answer_moves_the_session(event: Event) -> None:
    after = advance(SUBMITTING, event)
    answers = (Recorded, LeaseStale, EvidenceMoved, NotRecorded)
    assert frozen(after) is not isinstance(event, answers)
    if isinstance(after, Submitting):
        assert after.pending is PENDING


def test_trouble_counts_from_its_first_try() -> None:
    twice = advance(advance(SUBMITTING, Troubled(9.0, "a")), Troubled(19.0, "b"))
    assert isinstance(twice, Submitting)
    assert twice.trouble is not None
    assert (twice.trouble.since, twice.trouble.words, twice.trouble.tries) == (9.0, "b", 2)


def test_a_receipt_brings_what_came_with_it() -> None:
    assert advance(SUBMITTING, Recorded(DECISION, next=Leased(HELD))) == Reviewing(HELD)
    assert advance(SUBMITTING, Recorded(DECISION, next=NothingFree(FIGURES))) == Idle(
        Why.EMPTY, FIGURES
    )
    assert advance(SUBMITTING, Recorded(DECISION)) == Idle(Why.PAUSED)


def test_what_was_not_recorded_leaves_item_and_note() -> None:
    assert advance(SUBMITTING, NotRecorded("why")) == Reviewing(HELD, "n", "why")


def test_changed_evidence_takes_the_note_along_but_no_verdict() -> None:
    fresh = replace(HELD, resumed=True)
    changed = advance(SUBMITTING, EvidenceMoved(fresh))
    assert changed == Changed(PENDING, HELD, fresh)
    assert advance(changed, Taken()) == Reviewing(fresh, "n")


def test_a_renewal_of_another_lease_changes_nothing() -> None:
    other = LeaseRenewed("another", Countdown(999, 180), False, 6.0)
    assert advance(Reviewing(HELD), other) == Reviewing(HELD)


def test_what_could_be_given_back_is_known_in_each_state() -> None:
    assert held_item(Reviewing(HELD)) is HELD
    assert held_item(Stale(PENDING, FACTS, HELD)) is None
    assert held_item(Changed(PENDING, HELD, None)) is None


HIT = (ShownRuleHit(rule="kw", category="violence"),)
CLEAN = samples.evidence(scores={"spam": "0.01", "hate": "0.02"}, deciding="spam")


@pytest.mark.parametrize(
    ("evidence", "verdict", "words"),
    [
        (samples.evidence(hits=HIT), Verdict.APPROVE, "the rule kw fired"),
        (samples.evidence(scores={"hate": "0.99"}), Verdict.APPROVE, "hate is in its BLOCK band"),
        (samples.evidence(scores={"terror": "0.5"}), Verdict.APPROVE, "terror is REVIEW"),
        (samples.evidence(scores={"child_safety": None}), Verdict.APPROVE, "child_safety is HELD"),
        (samples.evidence(), Verdict.APPROVE, ""),
        (CLEAN, Verdict.REJECT, "every category is in its ALLOW band"),
        (samples.evidence(), Verdict.REJECT, ""),
        (samples.kyc(), Verdict.REJECT, ""),
        (samples.evidence(hits=HIT), Verdict.ESCALATE, ""),
    ],
)
def test_a_contradiction_is_named(evidence: object, verdict: Verdict, words: str) -> None:
    found = conflict(evidence, verdict)  # type: ignore[arg-type]  # a table of evidence
    assert found.startswith(words)
    assert bool(found) == bool(words)


def test_an_item_offers_its_own_verdicts_in_their_order_and_skip() -> None:
    verdicts = (Verdict.REJECT, Verdict.APPROVE)
    offers = offers_for(samples.evidence(), verdicts, samples.REASONS, "posts")
    assert [offer.letter for offer in offers] == ["r", "a", "s"]
    marked = [choice.code for choice in offers[0].choices if choice.marked]
    assert marked == ["violence_threat", "violence_incite"]

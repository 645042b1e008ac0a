"""The session moves only along its arrows; a late answer never moves it elsewhere."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.evidence import ShownRuleHit
from shared.vocabulary import Outcome, Verdict
from shared.wire.queue import DecisionPart, QueueFigures, VerdictRequest
from tests.tui import samples
from tui.state.advance import advance
from tui.state.countdown import Countdown, Renewal
from tui.state.events import (
    AskedTwice,
    ChangeAsked,
    ChangeTold,
    ClaimSent,
    Event,
    EvidenceMoved,
    GivenBack,
    HeldElsewhere,
    InputSeen,
    Leased,
    LeaseRenewed,
    LeaseStale,
    Lost,
    Noted,
    NothingFree,
    NotProven,
    NotRecorded,
    ParkedAway,
    Recorded,
    Refreshed,
    Taken,
    TakeOverSent,
    Troubled,
    VerdictMeant,
)
from tui.state.held import Held, StaleFacts, Why
from tui.state.notes import left_behind
from tui.state.offers import conflict, offers_for
from tui.state.pending import Pending
from tui.state.session import (
    Changed,
    Claiming,
    Elsewhere,
    Idle,
    Reviewing,
    Session,
    Stale,
    Submitting,
    Unshowable,
    disarmed,
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
    "elsewhere": Elsewhere(LEASE, Countdown(180, 180)),
    "taking over": Claiming("k", 1.0, over=True),
    "told": Reviewing(HELD, told=True),
    "to be looked at": Reviewing(HELD, fresh=HELD),
    "looking": Changed(None, HELD, HELD),
    "lost": Stale(None, FACTS, HELD, "n"),
}
EVENTS: list[Event] = [
    ClaimSent("k2", 2.0), Leased(HELD), NotProven(LEASE, "why"), NothingFree(FIGURES),
    Troubled(9.0, "no"), VerdictMeant(PENDING, 3.0), Recorded(DECISION), LeaseStale(FACTS),
    EvidenceMoved(HELD), NotRecorded("words"), InputSeen(4.0), Noted("n"), GivenBack(Why.RELEASED),
    LeaseRenewed(LEASE.lease_token, Countdown(400, 180), False, 6.0), Taken(), ChangeAsked(),
    ChangeTold(LEASE.item_id), Refreshed(HELD), Lost(LEASE.lease_token, FACTS), AskedTwice(),
    HeldElsewhere(LEASE, Countdown(180, 180)), TakeOverSent("k3", 2.0), ParkedAway("c", NOW),
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
    assert changed == Changed(PENDING, HELD, fresh, note="n")
    assert advance(changed, Taken()) == Reviewing(fresh, "n", before=HELD)


def test_a_renewal_of_another_lease_changes_nothing() -> None:
    other = LeaseRenewed("another", Countdown(999, 180), False, 6.0)
    assert advance(Reviewing(HELD), other) == Reviewing(HELD)


# what is heard while an item is in hand

OTHER = samples.evidence(scores={**samples.SCORES, "violence": "0.97"})
NEWER = Held(samples.lease(OTHER), OTHER, Countdown(90, 180), Renewal(50.0))


def test_evidence_that_is_said_to_have_changed_disarms_until_it_was_looked_at() -> None:
    told = advance(Reviewing(HELD, "n"), ChangeTold(LEASE.item_id))
    assert disarmed(told)
    assert not disarmed(advance(told, Refreshed(HELD))), "it was no news"
    there = advance(told, Refreshed(NEWER))
    assert disarmed(there)
    looking = advance(there, ChangeAsked())
    assert isinstance(looking, Changed)
    assert (looking.pending, looking.old) == (None, HELD)
    after = advance(looking, Taken())
    assert not disarmed(after)
    assert isinstance(after, Reviewing)
    assert (after.held.evidence, after.note, after.before) == (OTHER, "n", HELD)


def test_news_of_another_item_or_lease_changes_nothing() -> None:
    here = Reviewing(HELD, "n")
    other = replace(NEWER, lease=samples.lease(OTHER, number=2))
    for event in (ChangeTold("999"), Refreshed(other), Lost("another", FACTS)):
        assert advance(here, event) == here


def test_a_look_brings_the_time_and_keeps_the_input_that_was_counted() -> None:
    held = replace(HELD, renewal=Renewal(0.0, input_at=7.0))
    after = advance(Reviewing(held), Refreshed(replace(HELD, countdown=Countdown(60, 180))))
    assert isinstance(after, Reviewing)
    assert after.held.countdown == Countdown(60, 180)
    assert after.held.renewal.input_at == 7.0


def test_a_lost_lease_leaves_the_item_in_sight_and_the_note_kept() -> None:
    event = Lost(LEASE.lease_token, FACTS)
    before = Reviewing(HELD, "n")
    lost = advance(before, event)
    assert lost == Stale(None, FACTS, HELD, "n")
    kept = left_behind(before, event, lost)
    assert kept is not None
    assert kept.text == "n"
    gone = Lost(LEASE.lease_token, StaleFacts("resolved"))
    assert advance(lost, gone) == Stale(None, gone.facts, HELD, "n")


def test_what_was_lost_is_lost_under_a_dialog_too_but_not_while_a_verdict_is_on_its_way() -> None:
    event = Lost(LEASE.lease_token, FACTS)
    assert advance(Changed(PENDING, HELD, HELD, note="n"), event) == Stale(
        PENDING, FACTS, HELD, "n"
    )
    assert advance(SUBMITTING, event) is SUBMITTING


def test_evidence_that_changes_again_while_it_is_read_asks_anew() -> None:
    looking = Changed(PENDING, HELD, HELD, asked=True)
    after = advance(looking, Refreshed(NEWER))
    assert isinstance(after, Changed)
    assert (after.fresh and after.fresh.evidence, after.asked) == (OTHER, False)


def test_new_evidence_out_of_reach_is_taken_in_by_a_later_look() -> None:
    after = advance(Changed(PENDING, HELD, None, note="n"), Refreshed(NEWER))
    assert after == Changed(PENDING, HELD, NEWER, note="n")


def test_an_item_in_another_terminal_comes_over_with_a_key_alone() -> None:
    elsewhere = advance(Idle(Why.START), HeldElsewhere(LEASE, Countdown(180, 180)))
    assert elsewhere == Elsewhere(LEASE, Countdown(180, 180))
    assert held_item(elsewhere) is None, "it is not this terminal's to give back"
    assert advance(elsewhere, TakeOverSent("k", 2.0)) == Claiming("k", 2.0, over=True)
    assert advance(Idle(Why.EMPTY), TakeOverSent("k", 2.0)) == Idle(Why.EMPTY)


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

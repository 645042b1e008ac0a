"""Effects as values: the same decision, the same keys, the same bytes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import msgspec
import pytest

from backend.domain.outcome import Asked, EffectKind, Taken, effect_of, effects_for
from shared.vocabulary import Actor, ContentState, Outcome, ParkReason, Verdict

VERDICT = Taken(
    decision_id=42,
    tenant="default",
    content_id="c-1",
    seq=7,
    state=ContentState.REMOVED,
    actor=Actor.REVIEWER,
    outcome=Outcome.REMOVE,
    at=datetime(2026, 1, 5, tzinfo=UTC),
    policy_version="standard-1",
    verdict=Verdict.REJECT,
    reason="hate_group",
    model_version="m-1",
    supersedes=41,
)
AUTOMATIC = msgspec.structs.replace(VERDICT, actor=Actor.MODEL, verdict=None, reason=None)


def test_the_key_of_an_effect_is_the_decision_and_its_kind() -> None:
    assert [effect.key for effect in effects_for(VERDICT)] == ["42:webhook", "42:label"]


@pytest.mark.parametrize("actor", [Actor.REVIEWER, Actor.APPEAL])
def test_what_a_person_decided_is_a_training_label_too(actor: Actor) -> None:
    kinds = [effect.kind for effect in effects_for(msgspec.structs.replace(VERDICT, actor=actor))]
    assert kinds == [EffectKind.WEBHOOK, EffectKind.LABEL]


@pytest.mark.parametrize("actor", [Actor.RULES, Actor.MODEL])
def test_models_do_not_learn_from_themselves(actor: Actor) -> None:
    effects = effects_for(msgspec.structs.replace(AUTOMATIC, actor=actor))
    assert [effect.kind for effect in effects] == [EffectKind.WEBHOOK]


@pytest.mark.parametrize("verdict", [Verdict.ESCALATE, None])
def test_a_decision_without_outcome_says_nothing_outside(verdict: Verdict | None) -> None:
    silent = msgspec.structs.replace(VERDICT, outcome=Outcome.NONE, verdict=verdict)
    assert effects_for(silent) == ()


def test_the_same_decision_has_the_same_bytes_each_time() -> None:
    again = msgspec.structs.replace(VERDICT)
    assert [e.payload for e in effects_for(again)] == [e.payload for e in effects_for(VERDICT)]


def test_a_payload_says_what_a_receiver_needs_to_order_and_to_drop_repeats() -> None:
    (webhook,) = effects_for(AUTOMATIC)
    told = json.loads(webhook.payload)
    assert (told["content_id"], told["seq"], told["effect"]) == ("c-1", 7, "42:webhook")
    assert (told["decision_id"], told["supersedes"], told["state"]) == ("42", "41", "removed")


def test_a_question_leaves_under_its_own_key_and_without_its_words() -> None:
    asked = Asked(
        question_id=7,
        tenant="default",
        content_id="c-1",
        item_id=3,
        seq=4,
        reason=ParkReason.AWAIT_PRODUCER,
        at=datetime(2026, 1, 5, tzinfo=UTC),
        wake_at=datetime(2026, 1, 6, tzinfo=UTC),
    )
    effect = effect_of(asked)
    assert (effect.kind, effect.key) == (EffectKind.QUESTION, "question:7")
    assert effect_of(msgspec.structs.replace(asked)).payload == effect.payload
    assert json.loads(effect.payload) == {
        "v": 1,
        "effect": "question:7",
        "question_id": "7",
        "tenant": "default",
        "content_id": "c-1",
        "item_id": "3",
        "seq": 4,
        "reason": "await_producer",
        "wake_at": "2026-01-06T00:00:00.000000Z",
        "at": "2026-01-05T00:00:00.000000Z",
    }

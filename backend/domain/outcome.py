"""What a decision makes happen elsewhere, as values: the outbox stores them, workers do them.

An effect's key is `<decision id>:<kind>`: the same decision has the same effects with the same keys
and the same bytes however often it is looked at, so a receiver can tell a retry from news. What a
reviewer asks of a producer goes the same way, under `question:<question id>`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum, unique
from typing import Any

import msgspec

from backend.domain.model import utc_text
from shared.canonical import canonical_bytes
from shared.vocabulary import Actor, ContentState, Outcome, ParkReason, Verdict

EFFECT_FORMAT = 1
"""Raised whenever the same decision would be told in other bytes."""


@unique
class EffectKind(StrEnum):
    """The kinds of effects that leave the database."""

    WEBHOOK = "webhook"
    """Tell the producer what now holds."""
    LABEL = "label"
    """Tell the trainers what a person said."""
    QUESTION = "question"
    """Tell the producer that a reviewer asks something."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that has just taken effect.

    `seq` is the content's, after the event that says so; a receiver drops what is older. `state` is
    the state that the decision led to, `at` when.
    """

    decision_id: int
    tenant: str
    content_id: str
    seq: int
    state: ContentState
    actor: Actor
    outcome: Outcome
    at: datetime
    policy_version: str
    outcome_value: str | None = None
    verdict: Verdict | None = None
    reason: str | None = None
    model_version: str | None = None
    supersedes: int | None = None


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do elsewhere, at least once.

    `payload` are canonical JSON bytes, the same on each try; they hold ids and codes, never text.
    """

    kind: EffectKind
    key: str
    payload: bytes


def effects_for(taken: Taken) -> tuple[Effect, ...]:
    """Return the effects of a decision that has taken effect.

    One that changes nothing outside (`escalate`, an undo: outcome none) has none. A person's
    decision is a training label as well; a machine's is not, or models would learn from themselves.
    """
    if taken.outcome is Outcome.NONE:
        return ()
    by_person = taken.actor in (Actor.REVIEWER, Actor.APPEAL)
    kinds = (EffectKind.WEBHOOK, EffectKind.LABEL) if by_person else (EffectKind.WEBHOOK,)
    return tuple(_effect(kind, taken) for kind in kinds)


def _effect(kind: EffectKind, taken: Taken) -> Effect:
    key = f"{taken.decision_id}:{kind}"
    return Effect(kind=kind, key=key, payload=canonical_bytes({**_told(taken), "effect": key}))


def _told(taken: Taken) -> dict[str, Any]:
    return {
        "v": EFFECT_FORMAT,
        "decision_id": str(taken.decision_id),
        "tenant": taken.tenant,
        "content_id": taken.content_id,
        "seq": taken.seq,
        "state": taken.state.value,
        "actor": taken.actor.value,
        "outcome": taken.outcome.value,
        "outcome_value": taken.outcome_value,
        "verdict": None if taken.verdict is None else taken.verdict.value,
        "reason": taken.reason,
        "supersedes": None if taken.supersedes is None else str(taken.supersedes),
        "policy_version": taken.policy_version,
        "model_version": taken.model_version,
        "at": utc_text(taken.at),
    }


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question that a reviewer put to the producer when he parked an item.

    `seq` is the content's, after the event that says so. The text is not here: it is asked for.
    """

    question_id: int
    tenant: str
    content_id: str
    item_id: int
    seq: int
    reason: ParkReason
    at: datetime
    wake_at: datetime


def effect_of(asked: Asked) -> Effect:
    """Return how a question leaves the house."""
    key = f"{EffectKind.QUESTION}:{asked.question_id}"
    told = {
        "v": EFFECT_FORMAT,
        "effect": key,
        "question_id": str(asked.question_id),
        "tenant": asked.tenant,
        "content_id": asked.content_id,
        "item_id": str(asked.item_id),
        "seq": asked.seq,
        "reason": asked.reason.value,
        "wake_at": utc_text(asked.wake_at),
        "at": utc_text(asked.at),
    }
    return Effect(kind=EffectKind.QUESTION, key=key, payload=canonical_bytes(told))

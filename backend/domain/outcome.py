"""What a decision makes happen outside, as values: they are written down when it takes effect.

The key of an effect never changes, and its payload is the same bytes on each try, so a receiver can
tell a second delivery from a second effect. Payloads are thin: ids and codes, never text.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from backend.domain.model import utc_text
from shared.canonical import canonical_bytes
from shared.vocabulary import Actor, ContentState, Outcome, Verdict

OUTCOME_EFFECT = "outcome"
"""Tells the producer what now holds."""

LABEL_EFFECT = "label"
"""A training label: what a person, not a model, said."""

_SILENT = frozenset({Outcome.NONE, Outcome.HOLD})


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One message for the outside."""

    kind: str
    key: str
    payload: bytes


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A decision at the moment at which it takes effect; `seq` is the content's newest event."""

    decision_id: int
    content_id: str
    tenant: str
    seq: int
    state: ContentState
    actor: Actor
    outcome: Outcome
    outcome_value: str | None = None
    verdict: Verdict | None = None
    reason: str | None = None
    supersedes: int | None = None
    policy_version: str
    model_version: str | None = None
    at: datetime


def effects_for(taken: Taken) -> tuple[Effect, ...]:
    """Return what goes out: nothing for a hold or an escalation, which change nothing outside."""
    if taken.outcome in _SILENT:
        return ()
    body = canonical_bytes(_body(taken))
    kinds = (OUTCOME_EFFECT,) if taken.verdict is None else (OUTCOME_EFFECT, LABEL_EFFECT)
    return tuple(
        Effect(kind=kind, key=f"{taken.decision_id}:{kind}", payload=body) for kind in kinds
    )


def _body(taken: Taken) -> dict[str, object]:
    return {
        "v": 1,
        "decision": str(taken.decision_id),
        "content": taken.content_id,
        "tenant": taken.tenant,
        "seq": taken.seq,
        "state": taken.state.value,
        "actor": taken.actor.value,
        "outcome": taken.outcome.value,
        "outcome_value": taken.outcome_value,
        "verdict": None if taken.verdict is None else taken.verdict.value,
        "reason": taken.reason,
        "supersedes": None if taken.supersedes is None else str(taken.supersedes),
        "policy": taken.policy_version,
        "model": taken.model_version,
        "at": utc_text(taken.at),
    }

"""What became of a content: the state in force, why, and what is recorded but not in force yet."""

from __future__ import annotations

import msgspec

from backend.db.connection import Database
from backend.db.content import DecisionRow, read_decision
from backend.domain.identity import Identity
from backend.domain.refusals import NotFound
from shared.ids import is_content_id
from shared.vocabulary import Actor, Band, ContentState, DecisionKind, Outcome, Verdict
from shared.wire.content import DecisionView, Recorded


async def decision(db: Database, who: Identity, content_id: str) -> DecisionView:
    """Return what became of one content of the asker's tenant. Raises NotFound."""
    row = None
    if is_content_id(content_id):
        async with db.connection() as conn:
            row = await read_decision(conn, who.tenant_id, content_id)
    if row is None:
        raise NotFound("no content of this id was submitted", field="content_id")
    return _view(row)


def _view(row: DecisionRow) -> DecisionView:
    decided = row.decision_pk is not None
    return DecisionView(
        content_id=row.content_id,
        state=ContentState(row.state),
        seq=row.seq,
        decision_id=str(row.decision_pk) if decided else None,
        kind=None if row.kind is None else DecisionKind(row.kind),
        actor=None if row.actor is None else Actor(row.actor),
        verdict=None if row.verdict is None else Verdict(row.verdict),
        outcome=None if row.outcome is None else Outcome(row.outcome),
        reason=row.reason,
        band=None if row.band is None else Band(row.band),
        risk_score=row.risk_score,
        labels={} if row.labels is None else msgspec.json.decode(row.labels, type=dict[str, str]),
        policy_version=row.decision_policy_version if decided else row.policy_version,
        model_version=row.decision_model_version if decided else row.model_version,
        explanation=None if row.explanation is None else msgspec.json.decode(row.explanation),
        decided_at=row.decided_at,
        withdrawn_at=row.withdrawn_at,
        recorded=_recorded(row),
    )


def _recorded(row: DecisionRow) -> Recorded | None:
    if row.recorded_pk is None or row.recorded_kind is None or row.recorded_outcome is None:
        return None
    if row.recorded_at is None or row.apply_after is None:
        return None
    return Recorded(
        decision_id=str(row.recorded_pk),
        kind=DecisionKind(row.recorded_kind),
        verdict=None if row.recorded_verdict is None else Verdict(row.recorded_verdict),
        outcome=Outcome(row.recorded_outcome),
        recorded_at=row.recorded_at,
        takes_effect_at=row.apply_after,
    )

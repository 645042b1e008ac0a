"""What a checked submission becomes: its band, its queue, its evidence, as one row to admit."""

from __future__ import annotations

from secrets import token_bytes

import msgspec

from backend.db.content import NewContent
from backend.domain.banding import Banding
from backend.domain.engine import decide
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.rank import base
from backend.domain.refusals import Forbidden, InvalidField, NotFound, QueueDraining
from backend.domain.scores import score_text
from backend.domain.submission import CheckedContent
from backend.services.showing import NONCE_BYTES, show
from shared.vocabulary import Band, ItemSource, Role


class Admission(msgspec.Struct, frozen=True, kw_only=True):
    """One checked content, how it was banded (None: a case), and the row that says all that."""

    checked: CheckedContent
    banding: Banding | None
    row: NewContent


def refuse_queue(policy: Policy, who: Identity, checked: CheckedContent) -> None:
    """Raise unless `who` may send this content to the queue that people would see it in.

    InvalidField for a queue that the policy lacks, Forbidden for one that the key is not for, and
    QueueDraining for one that takes nothing new.
    """
    queue = _queue_of(policy, checked)
    if queue is None:
        raise InvalidField("the active policy has no such queue", field="queue")
    if not who.may(Role.PRODUCER, queue):
        raise Forbidden("your key does not submit to this queue", field="queue")
    refuse_draining(policy, queue)


def refuse_draining(policy: Policy, queue: str) -> None:
    """Raise QueueDraining for a queue that takes nothing new."""
    if policy.queues[queue].draining:
        raise QueueDraining("send it to another queue", field="queue", queue=queue)


def _queue_of(policy: Policy, checked: CheckedContent) -> str | None:
    """Return where people would see this content; None for a queue that the policy lacks."""
    if checked.queue is None:
        return policy.queue_for(checked.kind)
    return policy.queue_named(checked.queue)


def admit_content(policy: Policy, checked: CheckedContent) -> Admission:
    """Band a content; what needs a person gets an item, what is held waits for its scores."""
    banding = decide(checked.labels, (), policy)
    queue = _queue_of(policy, checked)
    queued = banding.needs_person
    nonce = token_bytes(NONCE_BYTES)
    shown = show(policy, checked, banding) if queued else None
    row = NewContent(
        content_id=checked.content_id,
        kind=checked.kind,
        lang=checked.lang,
        author_id=checked.author_id,
        author_followers=checked.author_followers,
        created_at=checked.created_at,
        model_version=checked.model_version,
        body=checked.body.decode(),
        nonce=nonce,
        fingerprint=checked.fingerprint(nonce),
        labels=labels_text(checked),
        incomplete=banding.band is Band.HELD,
        actor=banding.actor.value,
        outcome=banding.outcome.value,
        band=banding.band.value,
        explanation=msgspec.json.encode(banding.explanation).decode(),
        risk_score=banding.risk_score,
        queue=queue if queued else None,
        source=ItemSource.ENGINE.value if queued else None,
        severity=banding.severity if queued else None,
        base=_base(policy, banding.severity, checked) if queued else None,
        evidence_hash=None if shown is None else shown.digest,
        evidence=None if shown is None else shown.data,
    )
    return Admission(checked=checked, banding=banding, row=row)


def admit_case(policy: Policy, queue: str, checked: CheckedContent) -> Admission:
    """Put a case before people as it is. Raises NotFound for a queue that the policy lacks.

    Whether the queue drains is asked only once the case turns out to be new.
    """
    present = policy.queue_named(queue)
    if present is None:
        raise NotFound("there is no such queue", field="queue")
    terms = policy.queues[present]
    nonce = token_bytes(NONCE_BYTES)
    shown = show(policy, checked, None)
    row = NewContent(
        content_id=checked.content_id,
        kind=checked.kind,
        lang=checked.lang,
        author_id=checked.author_id,
        author_followers=checked.author_followers,
        created_at=checked.created_at,
        model_version=None,
        body=checked.body.decode(),
        nonce=nonce,
        fingerprint=checked.fingerprint(nonce),
        queue=present,
        source=ItemSource.CASE.value,
        severity=terms.severity,
        base=_base(policy, terms.severity, checked),
        evidence_hash=shown.digest,
        evidence=shown.data,
    )
    return Admission(checked=checked, banding=None, row=row)


def _base(policy: Policy, severity: int, checked: CheckedContent) -> float:
    return base(severity, checked.author_followers, policy.weights)


def labels_text(checked: CheckedContent) -> str | None:
    """Return the scores as a JSON object of exact numbers, None if there are none.

    A category's name needs no escape.
    """
    if not checked.labels:
        return None
    pairs = (f'"{name}":{score_text(score)}' for name, score in checked.labels.items())
    return "{" + ",".join(pairs) + "}"

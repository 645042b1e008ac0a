"""The gateway: one transaction that knows what is known, bands what is new, and queues for people.

A batch is written by a handful of statements, sorted by `content_id`, whatever its size. All of it
commits or none; a caller that never hears of it sends the same again and is told what exists.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from backend.db.apply import Advance, Outgoing, advance_contents, apply_decisions
from backend.db.blob import attach, attached
from backend.db.connection import Database
from backend.db.content import Admitted, admit_contents
from backend.db.event import insert_events
from backend.domain.identity import Identity
from backend.domain.ledger import GENESIS, Event, Fact, chain
from backend.domain.outcome import Taken
from backend.domain.policy import Policy
from backend.domain.refusals import ContentExists
from backend.domain.states import next_state
from backend.domain.submission import CheckedContent
from backend.services.admission import Admission, admit_case, admit_content, refuse_draining
from backend.services.apply import outgoing
from backend.services.blobs import missing
from backend.services.known import Known, look_up
from backend.services.news import Tell, depth, nobody
from shared.vocabulary import AppliedResult, ContentState, EventType, Outcome
from shared.wire.content import Receipt

_AT_ONCE = 4
"""Contents that are banded without a thread of their own: it would cost more than it saves."""


async def submit(
    db: Database,
    policy: Policy,
    who: Identity,
    rows: Sequence[CheckedContent],
    *,
    tell: Tell = nobody,
) -> list[Receipt]:
    """Submit contents together; the answer has one receipt for each, in the order of `rows`.

    An id that is known, or that stood earlier in `rows`, gets what exists. The queue of each row
    must have been checked with `refuse_queue`.
    """
    firsts: dict[str, CheckedContent] = {}
    for checked in rows:
        firsts.setdefault(checked.content_id, checked)
    in_order = [firsts[content_id] for content_id in sorted(firsts)]
    if len(in_order) <= _AT_ONCE:
        admissions = [admit_content(policy, checked) for checked in in_order]
    else:  # beside the requests of others, who would have to wait for all of it
        admissions = await asyncio.to_thread(
            lambda: [admit_content(policy, checked) for checked in in_order]
        )
    return await _admit(db, policy, who, admissions, rows, tell)


async def submit_case(
    db: Database,
    policy: Policy,
    who: Identity,
    queue: str,
    checked: CheckedContent,
    *,
    tell: Tell = nobody,
) -> Receipt:
    """Submit a case, which goes straight to the people of `queue`.

    Raises NotFound for an unknown queue, QueueDraining for one that takes nothing new, and
    ContentExists if the id is taken by a content that was never a case.
    """
    admission = admit_case(policy, queue, checked)
    (receipt,) = await _admit(db, policy, who, [admission], [checked], tell)
    return receipt


class _Effected(msgspec.Struct, frozen=True, kw_only=True):
    """A new content with its first events, and the state that it is in."""

    admission: Admission
    admitted: Admitted
    state: ContentState
    events: list[Event]


async def _admit(
    db: Database,
    policy: Policy,
    who: Identity,
    admissions: Sequence[Admission],
    rows: Sequence[CheckedContent],
    tell: Tell,
) -> list[Receipt]:
    if not admissions:
        return []
    for fault in (await missing(db, who, rows)).values():
        raise fault
    async with db.transaction() as conn:
        admitted = await admit_contents(
            conn,
            [admission.row for admission in admissions],
            tenant_id=who.tenant_id,
            principal_id=who.principal_id,
            policy_version=policy.version,
            age_per_minute=policy.weights.age_per_minute,
        )
        by_id = {admission.checked.content_id: admission for admission in admissions}
        for row in admitted:  # what is known already is answered, also when its queue drains
            _refuse_draining(policy, by_id[row.content_id])
        fresh = {row.content_id: _effected(who, by_id[row.content_id], row) for row in admitted}
        await _write(conn, policy, who, list(fresh.values()))
        again = [row for row in rows if _is_again(fresh, row)]
        known = await look_up(conn, who, again) if again else {}
        _refuse_other_nature(admissions, known)
    for news in depth(who.tenant_id, *_filled(fresh.values())):
        tell(news)
    return [_receipt(fresh, known, row) for row in rows]


def _refuse_draining(policy: Policy, admission: Admission) -> None:
    if admission.row.queue is not None:
        refuse_draining(policy, admission.row.queue)


def _filled(effected: Iterable[_Effected]) -> Iterator[str]:
    """Yield the queues in which something new waits."""
    for one in effected:
        if one.admitted.item_pk is not None and one.admission.row.queue is not None:
            yield one.admission.row.queue


def _is_again(fresh: Mapping[str, _Effected], checked: CheckedContent) -> bool:
    """Tell whether this row is another submission of an id, this batch's own first one apart."""
    effected = fresh.get(checked.content_id)
    return effected is None or effected.admission.checked is not checked


def _refuse_other_nature(admissions: Sequence[Admission], known: Mapping[str, Known]) -> None:
    for admission in admissions:
        found = known.get(admission.checked.content_id)
        if found is not None and admission.banding is None and not found.is_case:
            raise ContentExists("it is no case; choose another id", field="content_id")


def _effected(who: Identity, admission: Admission, admitted: Admitted) -> _Effected:
    banding = admission.banding
    state = ContentState.PENDING
    if banding is not None:
        state = next_state(state, banding.outcome, banding.actor)
    facts = list(_facts(who, admission, admitted, state))
    events = chain(admitted.content_id, 1, GENESIS, facts, tenant=who.tenant)
    return _Effected(admission=admission, admitted=admitted, state=state, events=events)


def _facts(
    who: Identity, admission: Admission, admitted: Admitted, state: ContentState
) -> list[Fact]:
    row, banding = admission.row, admission.banding
    submitted = {"fingerprint": row.fingerprint.hex(), "key": who.key_id, "kind": row.kind}
    principal = str(who.principal_id)
    facts = [
        Fact(type=EventType.CONTENT_SUBMITTED, at=admitted.at, principal=principal, data=submitted)
    ]
    if banding is not None:
        decided = {
            "decision": str(admitted.decision_pk),
            "band": row.band,
            "outcome": row.outcome,
            "outcome_value": None,
            "state": state.value,
            "policy": banding.plan.version,
            "model": row.model_version,
        }
        facts.append(
            Fact(type=EventType.DECISION_APPLIED, at=admitted.at, actor=row.actor, data=decided)
        )
    if admitted.item_pk is not None and row.evidence_hash is not None:
        queued = {
            "item": str(admitted.item_pk),
            "queue": row.queue,
            "round": 1,
            "source": row.source,
            "evidence": row.evidence_hash.hex(),
        }
        facts.append(Fact(type=EventType.ITEM_QUEUED, at=admitted.at, actor=row.actor, data=queued))
    return facts


async def _write(conn: Any, policy: Policy, who: Identity, effected: Sequence[_Effected]) -> None:
    """Write the events, and let the first decisions take effect in this very transaction."""
    if not effected:
        return
    await _attach(conn, who, effected)
    await insert_events(
        conn, [(one.admitted.content_pk, event) for one in effected for event in one.events]
    )
    advances = [_advance(one) for one in effected]
    results = [
        (one.admitted.decision_pk, AppliedResult.APPLIED.value)
        for one in effected
        if one.admitted.decision_pk is not None
    ]
    if results:
        told = [out for one in effected for out in _outgoing(policy, who, one)]
        await apply_decisions(conn, results, advances, told)
    else:
        await advance_contents(conn, advances)


async def _attach(conn: Any, who: Identity, effected: Sequence[_Effected]) -> None:
    shown = [
        row
        for one in effected
        for row in attached(one.admitted.content_pk, 1, one.admission.checked.attachments)
    ]
    if shown:
        await attach(conn, tenant_id=who.tenant_id, rows=shown)


def _advance(effected: _Effected) -> Advance:
    banding, admitted, last = effected.admission.banding, effected.admitted, effected.events[-1]
    return Advance(
        content_pk=admitted.content_pk,
        state=effected.state.value,
        actor=None if banding is None else banding.actor.value,
        applied_decision=admitted.decision_pk,
        head_decision=admitted.decision_pk,
        seq=last.seq,
        chain_head=last.hash,
        decided=banding is not None and banding.outcome is not Outcome.HOLD,
    )


def _outgoing(policy: Policy, who: Identity, effected: _Effected) -> list[Outgoing]:
    banding, admitted = effected.admission.banding, effected.admitted
    if banding is None or admitted.decision_pk is None:
        return []
    taken = Taken(
        decision_id=admitted.decision_pk,
        tenant=who.tenant,
        content_id=admitted.content_id,
        seq=effected.events[-1].seq,
        state=effected.state,
        actor=banding.actor,
        outcome=banding.outcome,
        at=admitted.at,
        policy_version=policy.version,
        model_version=effected.admission.row.model_version,
    )
    return outgoing(admitted.content_pk, taken)


def _receipt(
    fresh: Mapping[str, _Effected], known: Mapping[str, Known], checked: CheckedContent
) -> Receipt:
    if _is_again(fresh, checked):
        return known[checked.content_id].receipt(checked)
    effected = fresh[checked.content_id]
    item_pk = effected.admitted.item_pk
    banding = effected.admission.banding
    return Receipt(
        content_id=checked.content_id,
        state=effected.state,
        created=True,
        band=None if banding is None else banding.band,
        queue=effected.admission.row.queue,
        item_id=None if item_pk is None else str(item_pk),
    )

"""Set an item aside until a date or new evidence, and ask its producer.

It comes back by itself: a claim in its queue wakes it, the redriver does, and so does new evidence.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from backend.db.apply import advance_trail
from backend.db.connection import Connection, Database
from backend.db.event import insert_events
from backend.db.lease import own_end
from backend.db.park import (
    ParkableRow,
    lock_for_park,
    park_item,
    tell_producer,
)
from backend.domain.identity import Identity
from backend.domain.ledger import Fact, chain
from backend.domain.model import utc_text
from backend.domain.outcome import Asked, effect_of
from backend.domain.policy import Policy, Queue
from backend.domain.refusals import InvalidField
from backend.services.claim import queue_of_item
from backend.services.lease import item_key, stale
from backend.services.news import Tell, depth, nobody
from shared.vocabulary import EventType, LeaseHappening
from shared.wire.item import Parked, ParkRequest

_SHORTEST = timedelta(minutes=1)
_MOST = 20
"""How often one round is parked: who may park for ever keeps an item from everybody else."""
_NO_MORE = "it was set aside for as long as it may be: decide, release or escalate it"


async def park(
    db: Database,
    policy: Policy,
    who: Identity,
    item_id: str,
    request: ParkRequest,
    *,
    tell: Tell = nobody,
) -> Parked:
    """Set aside what `who` holds; a repetition with the same token is answered like the first.

    Raises NotFound, Forbidden, Busy, InvalidField for a time that is past, too near or too far
    away, or for any time once this round was parked for as long or as often as it may be, and
    StaleLease for a token that is not the fence any more, or a lease that has run out: it must be
    renewed first.
    """
    item_pk, token = item_key(item_id), UUID(request.lease_token)
    async with db.transaction() as conn:
        held = await lock_for_park(
            conn, tenant_id=who.tenant_id, item_id=item_pk, fence_token=token
        )
        if held is None or held.owner != who.principal_id:
            return Parked(item_id=item_id, wake_at=await _parked_before(conn, who, item_pk, token))
        queue = queue_of_item(policy, who, held.queue)
        wake_at = _wake_at(policy.queues[queue], held, request.until)
        await _set_aside(conn, who, item_pk, held, request, wake_at)
    # Nobody could have claimed it before either; but leads count what is held and what is parked.
    for news in depth(who.tenant_id, held.queue):
        tell(news)
    return Parked(item_id=item_id, wake_at=wake_at)


async def _parked_before(conn: Connection, who: Identity, item_pk: int, token: UUID) -> datetime:
    """Return when it comes back if this token's holder parked it; else raise what is true now."""
    before = await own_end(
        conn,
        item_id=item_pk,
        fence_token=token,
        principal_id=who.principal_id,
        happening=LeaseHappening.PARK.value,
    )
    if before is None or before.expires_at is None:
        raise await stale(conn, who, item_pk, token)
    return before.expires_at


def _wake_at(terms: Queue, held: ParkableRow, until: datetime | None) -> datetime:
    soonest = held.now + _SHORTEST
    latest = held.now + timedelta(milliseconds=terms.max_park_ms) - held.rested
    if held.parkings >= _MOST or latest < soonest:
        raise InvalidField(_NO_MORE, field="until")
    if until is None:
        return latest
    if not soonest <= until <= latest:
        wanted = f"a time from {utc_text(soonest)} to {utc_text(latest)}"
        raise InvalidField(wanted, field="until")
    return until


async def _set_aside(
    conn: Connection,
    who: Identity,
    item_pk: int,
    held: ParkableRow,
    request: ParkRequest,
    wake_at: datetime,
) -> None:
    token = UUID(request.lease_token)
    asked = await park_item(
        conn,
        item_id=item_pk,
        fence_token=token,
        principal_id=who.principal_id,
        reason=request.reason.value,
        text=request.question,
        now=held.now,
        wake_at=wake_at,
    )
    if asked is None:
        raise await stale(conn, who, item_pk, token)
    question = Asked(
        question_id=asked.question_pk,
        tenant=who.tenant,
        content_id=held.content_id,
        item_id=item_pk,
        seq=held.seq + 1,
        reason=request.reason,
        at=held.now,
        wake_at=wake_at,
    )
    await _note(conn, who, held, question)
    effect = effect_of(question)
    await tell_producer(
        conn,
        question_pk=asked.question_pk,
        content_pk=held.content_pk,
        kind=effect.kind.value,
        key=effect.key,
        payload=effect.payload,
    )


async def _note(conn: Connection, who: Identity, held: ParkableRow, question: Asked) -> None:
    """Put into the content's trail that it was parked, and for which question."""
    fact = Fact(
        type=EventType.ITEM_PARKED,
        at=held.now,
        principal=str(who.principal_id),
        data={
            "item": str(question.item_id),
            "question": str(question.question_id),
            "reason": question.reason.value,
            "wake_at": utc_text(question.wake_at),
        },
    )
    (event,) = chain(held.content_id, question.seq, held.chain_head, [fact], tenant=who.tenant)
    await insert_events(conn, [(held.content_pk, event)])
    await advance_trail(conn, content_pk=held.content_pk, seq=event.seq, chain_head=event.hash)

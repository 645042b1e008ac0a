"""New evidence from a producer: stored whole, shown at once, and followed by what it asks for.

A lease is not touched by it: the hash is the fence. Its holder is told and fetches the new
revision; a verdict on the old one is refused. Nothing waits longer for it either: what is parked
wakes, and what was decided comes back to people, if the queue's terms say so.
"""

from __future__ import annotations

import msgspec

from backend.db.connection import Connection, Database
from backend.db.evidence import SubmittedRow, ToRevise, read_submitted, read_to_revise
from backend.db.item import RoundRow
from backend.db.reopen import OpenedRow
from backend.domain.engine import decide
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.refusals import EvidenceChanged, Forbidden, InvalidField, NotFound
from backend.domain.submission import Submitted, check_revision
from backend.services.blobs import missing
from backend.services.news import News, Tell, depth, nobody
from backend.services.revision import New, Work, asks_for_people, open_it, settle, show_it, store
from backend.services.rounds import Trail, is_open, lock_round
from backend.services.showing import show
from shared.ids import is_content_id
from shared.vocabulary import ContentState, EventType, ItemSource, ItemState, NewsKind, Role
from shared.wire.evidence import EvidenceRevision, Revised


class _Done(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, and what to tell once it is true."""

    answer: Revised
    news: tuple[News, ...] = ()


async def revise(
    db: Database,
    policy: Policy,
    who: Identity,
    content_id: str,
    revision: EvidenceRevision,
    *,
    tell: Tell = nobody,
) -> Revised:
    """Replace what is shown of a content; the same body again changes nothing.

    What was withdrawn comes back with it, whatever it says: the same body is then a new revision.

    Raises NotFound, Forbidden for a producer without right to its queue, InvalidField or
    DuplicateKey as a submission does, EvidenceChanged if `expected_revision` is not current,
    QueueDraining where a new round would have to open in such a queue, and ContentionError if
    another round opened or ended meanwhile: then it is to be tried again.
    """
    new = await _checked(db, policy, who, content_id, revision)
    async with db.transaction() as conn:
        row, content = await lock_round(conn, who, content_id)
        state = await read_to_revise(conn, content_pk=row.content_pk)
        done = _unchanged(row, state, new, revision)
        if done is None:
            number = state.revision + 1
            work = Work(
                policy=policy,
                who=who,
                new=new,
                row=row,
                content=content,
                state=state,
                number=number,
                shown=show(policy, new.checked, new.banding, number),
            )
            done = await _revise(conn, work)
    for news in done.news:
        tell(news)
    return done.answer


async def _checked(
    db: Database, policy: Policy, who: Identity, content_id: str, revision: EvidenceRevision
) -> New:
    """Check all that needs no lock: who asks, every field, and that the attachments are here."""
    row = None
    if is_content_id(content_id):
        async with db.connection() as conn:
            row = await read_submitted(conn, tenant_id=who.tenant_id, content_id=content_id)
    if row is None:
        raise NotFound("no content of this id was submitted", field="content_id")
    queue = _queue(policy, row)
    if not who.may(Role.PRODUCER, queue):
        raise Forbidden("your key does not submit to this queue", field="content_id")
    checked = check_revision(revision, _submitted(content_id, row), is_case=row.is_case)
    for fault in (await missing(db, who, [checked])).values():
        raise fault
    banding = None if row.is_case else decide(checked.labels, (), policy)
    severity = policy.queues[queue].severity if banding is None else banding.severity
    return New(checked=checked, banding=banding, queue=queue, severity=severity)


def _queue(policy: Policy, row: SubmittedRow) -> str:
    """Return where people would see this content if it were submitted now."""
    named = None if row.asked_queue is None else policy.queue_named(row.asked_queue)
    return named or policy.queue_for(row.kind)


def _submitted(content_id: str, row: SubmittedRow) -> Submitted:
    return Submitted(
        content_id=content_id,
        kind=row.kind,
        lang=row.lang,
        author_id=row.author_id,
        author_followers=row.author_followers,
        created_at=row.created_at,
        queue=row.asked_queue,
    )


def _unchanged(
    row: RoundRow, state: ToRevise, new: New, revision: EvidenceRevision
) -> _Done | None:
    """Return the answer to a body that is there already, None if it is new or was withdrawn.

    Asked before the expected revision, so that the retry of a revision that was stored is told so.
    """
    if state.erased:
        raise InvalidField("its body was erased; submit it under another id", field="content_id")
    nonce = state.nonce if row.withdrawn_at is None else None
    if nonce is not None and new.checked.fingerprint(nonce) == state.fingerprint:
        answer = Revised(
            content_id=row.content_id,
            state=ContentState(row.state),
            revision=state.revision,
            changed=False,
            item_id=str(row.item_pk) if is_open(row) else None,
        )
        return _Done(answer=answer)
    if revision.expected_revision not in (None, state.revision):
        raise EvidenceChanged(
            "look at what is current and send yours again",
            field="expected_revision",
            evidence_revision=state.revision,
        )
    return None


async def _revise(conn: Connection, work: Work) -> _Done:
    row, digest = work.row, work.shown.digest.hex()
    fingerprint = await store(conn, work)
    told = {"revision": work.number, "evidence": digest, "fingerprint": fingerprint.hex()}
    opened: OpenedRow | None = None
    if is_open(row):
        await show_it(conn, work)
        told["item"] = str(row.item_pk)
    elif asks_for_people(work):
        opened = await open_it(conn, work)
    trail = Trail(work.who, [work.content])
    trail.add(row.content_pk, EventType.EVIDENCE_REVISED, work.state.now, told)
    if opened is not None:
        queued = {"item": str(opened.item_pk), "queue": opened.queue, "round": opened.round}
        queued |= {"source": ItemSource.EVIDENCE.value, "evidence": digest}
        trail.add(row.content_pk, EventType.ITEM_QUEUED, work.state.now, queued)
    await trail.write(conn)
    settled = await settle(conn, trail, work.content, opened)
    return _Done(answer=_answer(work, settled, opened), news=_news(work, opened))


def _answer(work: Work, settled: ContentState, opened: OpenedRow | None) -> Revised:
    shows = opened.item_pk if opened is not None else None
    if is_open(work.row):
        shows = work.row.item_pk
    return Revised(
        content_id=work.row.content_id,
        state=settled,
        revision=work.number,
        changed=True,
        item_id=None if shows is None else str(shows),
        reopened=opened is not None,
    )


def _news(work: Work, opened: OpenedRow | None) -> tuple[News, ...]:
    row, tenant_id = work.row, work.who.tenant_id
    if opened is not None:
        return tuple(depth(tenant_id, opened.queue))
    if row.item_state == ItemState.PARKED and row.queue is not None:
        return tuple(depth(tenant_id, row.queue))
    if work.state.owner is None:
        return ()
    changed = News(
        kind=NewsKind.EVIDENCE_CHANGED,
        tenant_id=tenant_id,
        queue=row.queue,
        item_pk=row.item_pk,
        principal_id=work.state.owner,
    )
    return (changed,)

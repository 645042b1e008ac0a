"""A lead lets people look again: the next round of a content that has none.

What was decided stays in force while they look. The round begins anew, at the end of its severity.
"""

from __future__ import annotations

from datetime import datetime

from backend.db.connection import Connection, Database
from backend.db.item import LockedContent, RoundRow, Settlement, advance_rounds, read_moment
from backend.db.move import open_queue
from backend.db.reopen import NewRound, OpenedRow, ShownRow, open_round, read_shown
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.rank import base, minutes, rank
from backend.domain.refusals import Forbidden, NotReopenable, QueueDraining
from backend.domain.states import reopened
from backend.services.move import target
from backend.services.news import Tell, depth, nobody
from backend.services.rounds import Trail, find_round, lock_round
from backend.services.showing import ensure_evidence
from shared.evidence import Evidence, open_evidence
from shared.vocabulary import Actor, ContentState, EventType, ItemSource, Role
from shared.wire.item import Reopened, ReopenRequest


async def reopen(
    db: Database,
    policy: Policy,
    who: Identity,
    content_id: str,
    request: ReopenRequest,
    *,
    tell: Tell = nobody,
) -> Reopened:
    """Open the next round of a content in `request.queue`, or where its last one was.

    Raises NotFound; Forbidden unless `who` leads that queue and the last one; QueueDraining; and
    NotReopenable while a round is open or a verdict is about to take effect, after an appeal, and
    where nothing is left to look at.
    """
    async with db.transaction() as conn:
        found = await find_round(conn, who, content_id)
        queue = _queue(policy, who, found, request)
        # A queue before items and contents, as when a policy comes into force.
        if not await open_queue(conn, tenant_id=who.tenant_id, queue=queue):
            raise QueueDraining("choose another queue", field="queue", queue=queue)
        row, content = await lock_round(conn, who, content_id)
        _queue(policy, who, row, request)
        _refuse(row)
        opened = await _open(conn, policy, who, row, content, queue)
    for news in depth(who.tenant_id, queue):
        tell(news)
    return Reopened(
        content_id=row.content_id,
        item_id=str(opened.item_pk),
        queue=opened.queue,
        round=opened.round,
    )


def _queue(policy: Policy, who: Identity, row: RoundRow, request: ReopenRequest) -> str:
    """Return where the round opens; whoever opens it leads both that queue and the last one."""
    last = None if row.queue is None else policy.queue_named(row.queue)
    wanted = request.queue or last or policy.queue_for(row.kind)
    queue = target(policy, who, wanted, field="queue")
    if last is not None and not who.may(Role.LEAD, last):
        raise Forbidden("you do not lead the queue that it was in last", field="content_id")
    return queue


def _refuse(row: RoundRow) -> None:
    """Raise for what may not be reopened; whether a round is open is the database's to say."""
    if row.head_actor == Actor.APPEAL:
        raise NotReopenable("an appeal has decided it, and that is the last word")
    if row.in_line:
        raise NotReopenable("a verdict on it is about to take effect: reopen it after that")


async def _open(
    conn: Connection,
    policy: Policy,
    who: Identity,
    row: RoundRow,
    content: LockedContent,
    queue: str,
) -> OpenedRow:
    revision = await ensure_evidence(conn, policy, row.content_pk)
    shown = await read_shown(conn, content_pk=row.content_pk, revision=revision)
    if shown.evidence is None:
        raise NotReopenable("its evidence was erased: nothing is left to look at")
    severity = row.severity
    if severity is None:
        evidence = open_evidence(shown.evidence, shown.evidence_hash)
        severity = _severity(evidence, policy.queues[queue].severity)
    ahead = base(severity, row.author_followers, policy.weights)
    now = await read_moment(conn)
    new = NewRound(
        tenant_id=who.tenant_id,
        content_pk=row.content_pk,
        queue=queue,
        source=ItemSource.REOPEN.value,
        severity=severity,
        base=ahead,
        rank=rank(ahead, minutes(now), policy.weights),
        evidence_revision=revision,
        first_enqueued_at=now,
        now=now,
    )
    opened = await open_round(conn, new)
    if opened is None:
        raise NotReopenable("a round is open: people are looking at it, or will")
    await _record(conn, who, content, opened, shown, now)
    return opened


def _severity(evidence: Evidence, otherwise: int) -> int:
    """Return the severity of what decided; that of the queue for what nothing decided."""
    found = [row.severity for row in evidence.labels if row.category == evidence.deciding]
    return found[0] if found else otherwise


async def _record(
    conn: Connection,
    who: Identity,
    content: LockedContent,
    opened: OpenedRow,
    shown: ShownRow,
    now: datetime,
) -> None:
    """Write the fact, and bring the content to the state in which people look at it."""
    state = reopened(ContentState(content.state), ItemSource.REOPEN)
    trail = Trail(who, [content])
    told = {
        "item": str(opened.item_pk),
        "queue": opened.queue,
        "round": opened.round,
        "source": ItemSource.REOPEN.value,
        "evidence": shown.evidence_hash,
        "state": state.value,
    }
    trail.add(content.content_pk, EventType.ITEM_QUEUED, now, told)
    await trail.write(conn)
    seq, head = trail.ends[content.content_pk]
    settled = Settlement(
        content_pk=content.content_pk,
        state=state.value,
        seq=seq,
        chain_head=head,
        withdrawn_at=None,
    )
    await advance_rounds(conn, [settled])

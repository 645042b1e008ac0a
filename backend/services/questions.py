"""What was asked of a producer when an item was set aside: for him, for leads and for auditors."""

from __future__ import annotations

from backend.db.connection import Database
from backend.db.item import RoundRow, read_round
from backend.db.park import QuestionRow, questions_of
from backend.domain.cursor import place, write_cursor
from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, NotFound
from backend.services.items import begin_at
from shared.ids import is_content_id
from shared.vocabulary import ParkReason, Role
from shared.wire.item import QUESTIONS_LIMIT, Question, Questions

_NEWEST = 2**63 - 1
_READERS = (Role.PRODUCER, Role.LEAD, Role.AUDITOR)


async def questions(
    db: Database, who: Identity, content_id: str, after: str | None = None
) -> Questions:
    """Return a page of what was asked about a content, newest first.

    Raises NotFound, InvalidField for a cursor that is not of this list, and Forbidden for whoever
    neither submitted the content nor has a role in the queue of its newest round.
    """
    name = f"questions:{content_id}"
    behind = None if after is None else begin_at(after, name)
    row = None
    async with db.transaction(readonly=True) as conn:
        if is_content_id(content_id):
            row = await read_round(conn, tenant_id=who.tenant_id, content_id=content_id)
        if row is None:
            raise NotFound("no content of this id was submitted", field="content_id")
        _refuse_others(who, row)
        rows = await questions_of(
            conn,
            content_pk=row.content_pk,
            before=_NEWEST if behind is None else behind.id,
            limit=QUESTIONS_LIMIT + 1,
        )
    last = rows[QUESTIONS_LIMIT - 1] if len(rows) > QUESTIONS_LIMIT else None
    return Questions(
        questions=tuple(map(_question, rows[:QUESTIONS_LIMIT])),
        after=None if last is None else write_cursor(place(name, None, last.question_pk)),
    )


def _refuse_others(who: Identity, row: RoundRow) -> None:
    if row.submitted_by == who.principal_id:
        return
    if not any(who.may(role, row.queue or "") for role in _READERS):
        raise Forbidden("your key has no role in the queue of this content", field="content_id")


def _question(row: QuestionRow) -> Question:
    return Question(
        question_id=str(row.question_pk),
        item_id=str(row.item_pk),
        reason=ParkReason(row.reason),
        text=row.text,
        asked_at=row.asked_at,
        wake_at=row.wake_at,
        open=row.open,
    )

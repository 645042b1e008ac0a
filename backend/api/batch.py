"""A batch: what can be submitted is, together, and each row that can't is told so by its index."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import Request

from backend.api.bodies import Body
from backend.api.desk import Desk
from backend.domain.refusals import Refusal
from backend.domain.submission import CheckedContent, check_submission
from backend.services.admission import refuse_queue
from backend.services.blobs import missing
from backend.services.steady import steadily
from backend.services.submit import submit
from shared.problems import Problem
from shared.wire.content import BatchReceipt, BatchRow, Receipt, Submission


async def submit_rows(
    request: Request[Any, Any, Any], desk: Desk, body: Body[Submission]
) -> BatchReceipt:
    """Submit the rows of a batch and answer each in its place."""
    submissions = await body.read_rows(request)
    checked = await asyncio.to_thread(lambda: [_checked(desk, row) for row in submissions])
    checked = await _with_attachments(desk, checked)
    good = [row for row in checked if isinstance(row, CheckedContent)]
    receipts = iter(
        await steadily(lambda: submit(desk.db, desk.policy, desk.who, good, tell=desk.tell))
    )
    rows = [
        BatchRow(problem=_problem(row, index))
        if isinstance(row, Refusal)
        else BatchRow(receipt=next(receipts))
        for index, row in enumerate(checked)
    ]
    return _counted(rows)


async def _with_attachments(
    desk: Desk, checked: list[CheckedContent | Refusal]
) -> list[CheckedContent | Refusal]:
    """Refuse the rows whose attachments are not here; nothing is asked if there are none."""
    places = [place for place, row in enumerate(checked) if isinstance(row, CheckedContent)]
    good = [row for row in checked if isinstance(row, CheckedContent)]
    faults = await steadily(lambda: missing(desk.db, desk.who, good))
    refused = {places[number]: fault for number, fault in faults.items()}
    return [refused.get(place, row) for place, row in enumerate(checked)]


def _checked(desk: Desk, row: Submission | Refusal) -> CheckedContent | Refusal:
    if isinstance(row, Refusal):
        return row
    try:
        checked = check_submission(row)
        refuse_queue(desk.policy, desk.who, checked)
    except Refusal as refusal:
        return refusal
    return checked


def _problem(refusal: Refusal, index: int) -> Problem:
    refusal.extra["index"] = index
    return refusal.problem()


def _counted(rows: list[BatchRow]) -> BatchReceipt:
    receipts: list[Receipt] = [row.receipt for row in rows if row.receipt is not None]
    created = sum(receipt.created for receipt in receipts)
    return BatchReceipt(
        rows=rows,
        created=created,
        known=len(receipts) - created,
        refused=len(rows) - len(receipts),
    )

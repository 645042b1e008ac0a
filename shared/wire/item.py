"""What may happen to an item besides claim and verdict, and the lists that leads page through."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from shared.vocabulary import (
    BulkResult,
    ItemSource,
    ItemState,
    LeaseHappening,
    ParkReason,
    TakeBackReason,
)
from shared.wire.queue import NO_NUL, Uuid

QUESTION_LIMIT = 2000
"""The longest question to a producer, in characters."""
BULK_LIMIT = 500
"""How many items one bulk request may name."""
QUESTIONS_LIMIT = 100
"""The longest page of questions."""
PAGE_LIMIT = 200
"""The longest page of a list."""


class ParkRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/items/{item_id}/park`: set aside until a date or new evidence.

    `until` None: until new evidence, at the latest after the queue's longest time to park. The
    producer is told; `question` is what he is asked.
    """

    lease_token: Uuid
    reason: ParkReason
    until: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    question: (
        Annotated[
            str,
            msgspec.Meta(min_length=1, max_length=QUESTION_LIMIT, pattern=NO_NUL),
        ]
        | None
    ) = None


class Parked(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a parking; a repetition gets the same."""

    item_id: str
    wake_at: datetime


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of the producer when an item was parked; `text` None: nothing, or erased."""

    question_id: str
    item_id: str
    reason: ParkReason
    text: str | None
    asked_at: datetime
    wake_at: datetime
    open: bool
    """Whether the item is still parked for it."""


class Questions(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `GET /v1/content/{content_id}/questions`, newest first, at most 100.

    `after` is for the next request, None: the end.
    """

    questions: tuple[Question, ...]
    after: str | None = None


class TakeBackRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/items/{item_id}/take-back`, by a lead.

    `lease_epoch` says which lease is meant, as the lead's list showed it: a later one stays.
    """

    lease_epoch: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
    reason: TakeBackReason


class TakenBack(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a take-back; a repetition gets the same."""

    item_id: str
    holder: str


class MoveRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/items:move`, by a lead of both queues."""

    items: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=BULK_LIMIT)]
    to: str


class WithdrawItemsRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/items:withdraw`, by a lead: nobody needs to look any more."""

    items: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=BULK_LIMIT)]


class WakeItemsRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/items:wake`, by a lead: what is parked comes back now."""

    items: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=BULK_LIMIT)]


class BulkRow(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one item; `detail` says more where nothing was done."""

    item_id: str
    result: BulkResult
    detail: str = ""


class BulkAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a bulk request: one row for each item named, in the order named."""

    rows: tuple[BulkRow, ...]
    done: int


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `POST /v1/content/{content_id}/withdraw`; a repetition gets the same."""

    content_id: str
    item_id: str | None
    withdrawn_at: datetime


class ReopenRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/content/{content_id}/reopen`, by a lead: people look again.

    `queue` None: where the last round was.
    """

    queue: str | None = None


class Reopened(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a reopening."""

    content_id: str
    item_id: str
    queue: str
    round: int


class ItemLine(msgspec.Struct, frozen=True, kw_only=True):
    """One item in a lead's list: no content, no token."""

    item_id: str
    content_id: str
    queue: str
    round: int
    source: ItemSource
    state: ItemState
    rank: float
    severity: int
    age_ms: int
    """Since it was first queued."""
    sla_age_ms: int
    """The same without the time that it was parked."""
    lease_count: int
    left_by: int
    lease_epoch: int
    holder: str | None = None
    since: datetime | None = None
    """When it was leased or parked."""
    ends_in_ms: int | None = None
    """When the lease runs out or the item wakes; negative: it has."""
    stuck: bool = False
    abandoned: bool = False


class ItemPage(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `GET /v1/queues/{queue}/items`; `after` is for the next request, None: the end."""

    items: tuple[ItemLine, ...]
    after: str | None = None


class LeaseEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One happening of an item's leases."""

    at: datetime
    happening: LeaseHappening
    lease_epoch: int
    person: str | None
    by: str | None = None
    """Who did it, where that was not the holder himself."""
    reason: str | None = None
    times: int = 1
    """Renewals of one lease in a row are one entry."""


class LeasePage(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `GET /v1/items/{item_id}/leases`, oldest first."""

    entries: tuple[LeaseEntry, ...]
    after: str | None = None

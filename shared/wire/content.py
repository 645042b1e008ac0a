"""What producers say: content, cases, and the answer to "what became of it"."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from shared.problems import Problem
from shared.vocabulary import Actor, Band, ContentState, DecisionKind, Outcome, Verdict
from shared.wire.evidence import Attachments


class Submission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/content`, and one row of `POST /v1/content:batch`.

    `labels` maps a category to its score in [0, 1]; it stays raw here, since it is read with exact
    decimals and with duplicate keys refused. `fields` is a case's own facts: an object of strings,
    whole numbers, booleans, nulls and nestings of them. `queue` names where an ambiguous content
    goes, if not where the policy sends its kind. `attachments` are digests of what was sent before
    with `PUT /v1/blobs/{sha256}`.
    """

    content_id: str
    kind: str = "post"
    lang: str | None = None
    text: str | None = None
    fields: msgspec.Raw = msgspec.Raw(b"{}")
    labels: msgspec.Raw = msgspec.Raw(b"{}")
    model_version: str | None = None
    author_id: str | None = None
    author_followers: int = 0
    created_at: datetime | None = None
    queue: str | None = None
    attachments: Attachments = ()


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/queues/{queue}/items`: a case for people, without scores."""

    content_id: str
    kind: str = "case"
    lang: str | None = None
    text: str | None = None
    fields: msgspec.Raw = msgspec.Raw(b"{}")
    author_id: str | None = None
    author_followers: int = 0
    created_at: datetime | None = None
    attachments: Attachments = ()


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What a submission became: the state in force and the band that led to it.

    `created` is false when the `content_id` was known; then `same_body` says whether the body was
    the same, and nothing was changed.
    """

    content_id: str
    state: ContentState
    created: bool
    same_body: bool = True
    band: Band | None = None
    queue: str | None = None
    item_id: str | None = None


class BatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one row of a batch, in order; exactly one of the two is set."""

    receipt: Receipt | None = None
    problem: Problem | None = None


class BatchReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `POST /v1/content:batch`: one row for each row sent."""

    rows: list[BatchRow]
    created: int
    known: int
    refused: int


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that stands but has not taken effect yet."""

    decision_id: str
    kind: DecisionKind
    verdict: Verdict | None
    outcome: Outcome
    recorded_at: datetime
    takes_effect_at: datetime


class DecisionView(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `GET /v1/content/{content_id}/decision`: the state in force, and why.

    `decision_id` and what follows it speak of the newest decision that was applied; `recorded` is
    the verdict that waits for its undo window. `explanation` is the engine's own account.
    """

    content_id: str
    state: ContentState
    seq: int
    decision_id: str | None = None
    kind: DecisionKind | None = None
    actor: Actor | None = None
    verdict: Verdict | None = None
    outcome: Outcome | None = None
    reason: str | None = None
    band: Band | None = None
    risk_score: str | None = None
    labels: dict[str, str] = {}
    policy_version: str | None = None
    model_version: str | None = None
    explanation: dict[str, Any] | None = None
    decided_at: datetime | None = None
    withdrawn_at: datetime | None = None
    """When its producer took it back; nobody is asked about it any more."""
    recorded: Recorded | None = None

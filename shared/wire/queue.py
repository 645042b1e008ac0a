"""What a reviewer and the queue say to each other: claim, renew, release, verdict."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from shared.reasons import Reason
from shared.vocabulary import ItemSource, Outcome, ReleaseReason, Role, Verdict

# A description is what a refusal says of the form.
Uuid = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z",
        description="a UUID in lower-case hex",
    ),
]
Sha256 = Annotated[
    str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z", description="a SHA-256 in lower-case hex")
]
Terminal = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}\Z")]
"""The name by which one of a person's terminals is told from another."""
NOTE_LIMIT = 4000
"""The longest note, in characters."""
NO_NUL = r"^[^\x00]*\Z"
"""Any text that a database can keep."""


class ClaimRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/queues/{queue}/claim`. The same `claim_key` returns the same lease."""

    claim_key: Uuid
    terminal: Terminal | None = None


class ClaimAnyRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/claim`: from several queues, in a fair order.

    `queues`: None stands for every queue that the asker may work in. The queue whose oldest waiting
    item has used the largest share of its SLA is served first; within a queue, rank decides.
    """

    claim_key: Uuid
    queues: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=50)] | None = None
    terminal: Terminal | None = None


class RankWeights(msgspec.Struct, frozen=True, kw_only=True):
    """What a step of severity, a power of ten of followers and a minute of waiting are worth."""

    severity: float = 10.0
    exposure: float = 1.0
    age_per_minute: float = 0.5


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """One item, held by the asker. `evidence` is canonical JSON; its SHA-256 is `evidence_hash`.

    `expires_in_ms` is counted by the database clock when the answer was made; negative: it has
    lapsed, yet the token holds until somebody else claims. What changes by itself (followers,
    waiting time) stands here and not in the evidence. `base` is the priority before any waiting,
    boosts included; `weights` say how it came about.
    """

    item_id: str
    content_id: str
    queue: str
    round: int
    source: ItemSource
    lease_token: str
    expires_in_ms: int
    ttl_ms: int
    lease_count: int
    left_by: int
    abandon_threshold: int
    rank: float
    base: float
    weights: RankWeights = RankWeights()
    severity: int
    author_followers: int
    waited_ms: int
    sla_ms: int
    sla_age_ms: int = 0
    """What of the SLA is used: the waiting time without the time that it was parked."""
    evidence: str
    evidence_hash: str
    verdicts: tuple[Verdict, ...]
    """The verdicts that this item admits, in the order of their keys."""
    terminal: str | None = None
    """Which of the holder's terminals claimed it, if that one said its name."""


class QueueFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue holds, for whoever asks: "0 free, 1 held until" is not "empty".

    Each count stands still at `capped_at`. `free` is what the next claim would find: what waits,
    leases that ran out, and parked items that are due. `not_for_you` are those of them that this
    person may not take. `held` are live leases, and what enough people left undecided, which no
    claim here gets: it is on its way to escalation. `free_in_ms` is when the next lease lapses;
    `oldest_ms` is the age of the oldest undecided item, the time that it was parked not counted;
    `parked` are not due yet.
    """

    queue: str
    free: int
    held: int
    not_for_you: int = 0
    free_in_ms: int | None = None
    oldest_ms: int | None = None
    sla_ms: int = 0
    parked: int = 0
    capped_at: int = 10_000


class ClaimAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a claim: a lease, or none and the figures that say why.

    With a lease there are none: nobody waits for a count before he may begin. They are read with
    `GET /v1/queues/{queue}`.
    """

    lease: Lease | None
    figures: QueueFigures | None = None


class ClaimAnyAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `POST /v1/claim`: a lease, or none and why.

    `figures`: of each queue that was tried, in that order; with a lease none.
    """

    lease: Lease | None
    figures: tuple[QueueFigures, ...] = ()


class Available(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `GET /v1/available`: the queues with something for the asker; nothing is leased.

    Empty after the whole wait: nothing came. `figures` are of all queues that were asked.
    """

    queues: tuple[str, ...]
    figures: tuple[QueueFigures, ...]


class TakeOverRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/me/lease/take-over`: the asker's lease moves to this terminal.

    The token rotates, so the other terminal can't decide any more. The same `claim_key` returns the
    same token. The answer is a `MyLease`.
    """

    claim_key: Uuid
    terminal: Terminal | None = None


class MyLease(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `GET /v1/me/lease`."""

    lease: Lease | None


class RenewRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/items/{item_id}/renew`; sent on real input only."""

    lease_token: Uuid


class Renewed(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a renewal. `capped`: the longest total hold is reached, no more renewals."""

    expires_in_ms: int
    capped: bool = False


class ReleaseRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/items/{item_id}/release`."""

    lease_token: Uuid
    reason: ReleaseReason


class Released(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a release."""

    item_id: str


class VerdictRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /v1/items/{item_id}/verdict`.

    `verdict_token` is the retry key: the same token and body get the same answer for ever.
    `seen` is the share of the text that was on screen, in percent; `dwell_ms` how long it was.
    `claim_next`: also claim from `queue` of this item, with this claim key.
    """

    lease_token: Uuid
    verdict_token: Uuid
    evidence_hash: Sha256
    verdict: Verdict
    reason: str
    note: Annotated[str, msgspec.Meta(max_length=NOTE_LIMIT, pattern=NO_NUL)] | None = None
    seen: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    dwell_ms: Annotated[int, msgspec.Meta(ge=0, le=86_400_000)] | None = None
    renderer: Annotated[str, msgspec.Meta(max_length=64, pattern=NO_NUL)] | None = None
    claim_next: Uuid | None = None
    terminal: Terminal | None = None


class DecisionPart(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the answer that a replay repeats byte for byte."""

    decision_id: str
    item_id: str
    content_id: str
    verdict: Verdict
    outcome: Outcome
    reason: str
    recorded_at: datetime
    takes_effect_at: datetime
    late_by_ms: int = 0


class VerdictAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a verdict; `next` only if it was asked for, and read anew on a replay.

    It is the lease that the person holds already, else a fresh one, else none with the figures that
    say why; null for a queue that he may not work in any more.
    The headers `fencepost-replayed` and `fencepost-superseded-by` say what is no part of it.
    """

    decision: DecisionPart
    next: ClaimAnswer | None = None


class QueueView(msgspec.Struct, frozen=True, kw_only=True):
    """One queue that the asker may work in, with its reasons in the order of their digits."""

    queue: str
    title: str
    figures: QueueFigures
    lease_ttl_ms: int
    undo_window_ms: int
    reasons: tuple[Reason, ...]


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `GET /v1/me`."""

    name: str
    principal_id: str
    roles: tuple[Role, ...]
    queues: tuple[QueueView, ...]
    policy_version: str


REPLAYED_HEADER = "fencepost-replayed"
SUPERSEDED_BY_HEADER = "fencepost-superseded-by"

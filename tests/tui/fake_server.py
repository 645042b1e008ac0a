"""A server of one reviewer's world, spoken over the wire: enough to drive the terminal, no more.

It is used through a fake transport in pilot tests and through a loopback socket in pty tests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import msgspec

from shared.evidence import Evidence
from shared.problems import Problem, ProblemCode
from shared.vocabulary import NewsKind, Outcome, Role
from shared.wire.cockpit import Health, QueueHealth
from shared.wire.item import Parked
from shared.wire.live import LiveEvent
from shared.wire.queue import (
    ClaimAnswer,
    DecisionPart,
    Lease,
    Me,
    MyLease,
    QueueFigures,
    QueueView,
    Released,
    Renewed,
    VerdictAnswer,
)
from tests.tui import samples

START = datetime(2026, 11, 28, 14, 3, 20, tzinfo=UTC)
Fault = Callable[[], httpx.Response]


def problem(
    code: ProblemCode, status: int, title: str = "Refused.", **extra: Any
) -> httpx.Response:
    """Return a refusal."""
    body = Problem(code=code, status=status, title=title, extra=extra)
    return httpx.Response(status, content=msgspec.json.encode(body))


class FakeServer:
    """Holds a queue of evidence; hands out leases, records verdicts by token."""

    def __init__(self, items: list[Evidence] | None = None) -> None:
        self.waiting = list(items or [])
        self.mine: Lease | None = None
        self.number = 0
        self.calls: list[str] = []
        self.bodies: list[tuple[str, dict[str, Any]]] = []
        self.verdicts: dict[str, VerdictAnswer] = {}
        self.released: list[str] = []
        self.renewals = 0
        self.faults: dict[str, list[Fault]] = {}
        self.lease_options: dict[str, Any] = {}
        self.held_by_others = 0
        self.not_for_me = 0
        self.health: Health = health()
        self.queues = [("posts", "Posts"), ("cases", "Cases")]
        self.parked: list[dict[str, Any]] = []
        self.fates: dict[str, dict[str, Any]] = {}
        """What became of tokens that died, as a stale lease says it."""
        self.streams: list[Stream] | None = None
        """The connections that listen; None: there is no stream here."""

    def fail(self, part: str, *faults: Fault) -> None:
        """Answer the next calls whose path ends in `part` with these faults."""
        self.faults.setdefault(part, []).extend(faults)

    def lose(self, **facts: Any) -> None:
        """Let the lease in hand die, by somebody else's deed; `facts` are of the item now."""
        assert self.mine is not None
        self.fates[self.mine.lease_token] = {"can_reclaim": False, **facts}
        self.mine = None

    def revise(self, evidence: Evidence) -> None:
        """Put other evidence under the lease in hand; its token stays."""
        assert self.mine is not None
        shown = samples.lease(evidence, number=int(self.mine.item_id) - 1000)
        self.mine = msgspec.structs.replace(
            self.mine, evidence=shown.evidence, evidence_hash=shown.evidence_hash
        )

    def tell(self, kind: NewsKind, item_id: str | None = None, queue: str | None = None) -> None:
        """Tell everybody who listens."""
        event = LiveEvent(kind=kind, item_id=item_id, queue=queue)
        for stream in self.streams or []:
            stream.put(b"event: %s\ndata: %s\n\n" % (kind.encode(), msgspec.json.encode(event)))

    def cut_streams(self) -> None:
        """Break every connection that listens."""
        for stream in self.streams or []:
            stream.put(None)
        self.streams = []

    def transport(self) -> httpx.MockTransport:
        """Return a transport that ends here."""
        return httpx.MockTransport(self.handle)

    def handle(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        path = request.url.path
        self.calls.append(f"{request.method} {path}")
        body = json.loads(request.content) if request.content else {}
        if body:
            self.bodies.append((path, body))
        for part, faults in self.faults.items():
            if path.endswith(part) and faults:
                return faults.pop(0)()
        if path == "/v1/stream":
            return self.stream()
        token = body.get("lease_token")
        if token in self.fates and body.get("verdict_token") not in self.verdicts:
            return problem(ProblemCode.STALE_LEASE, 409, **self.fates[token])
        return _json(self.answer(path, body))

    def stream(self) -> httpx.Response:
        if self.streams is None:
            return problem(ProblemCode.NOT_FOUND, 404)
        stream = Stream()
        self.streams.append(stream)
        stream.put(b'event: resync\ndata: {"kind":"resync"}\n\n')
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=stream)

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Return the answer to a path that is not at fault."""
        parts = path.split("/")
        last = parts[-1]
        answers: dict[str, Callable[[], Any]] = {
            "me": self.me,
            "lease": lambda: MyLease(lease=self.mine),
            "claim": lambda: self.claim(body.get("terminal")),
            "take-over": lambda: self.take_over(body),
            "park": lambda: self.park(parts[3], body),
            "verdict": lambda: self.record(parts[3], body),
            "renew": self.renew,
            "release": lambda: self.release(parts[3], body),
            "health": lambda: self.health,
        }
        return answers.get(last, lambda: self.view(last, last.capitalize()))()

    def renew(self) -> Renewed:
        self.renewals += 1
        return Renewed(expires_in_ms=180_000)

    def me(self) -> Me:
        return Me(
            name="maria.k", principal_id="7", roles=(Role.REVIEWER,), policy_version="standard-1",
            queues=tuple(self.view(queue, title) for queue, title in self.queues),
        )  # fmt: skip

    def view(self, queue: str, title: str) -> QueueView:
        return QueueView(
            queue=queue, title=title, figures=self.figures(queue), lease_ttl_ms=180_000,
            undo_window_ms=10_000, reasons=samples.REASONS,
        )  # fmt: skip

    def figures(self, queue: str = "posts") -> QueueFigures:
        free = len(self.waiting) + self.not_for_me
        return QueueFigures(
            queue=queue, free=free, held=self.held_by_others, not_for_you=self.not_for_me,
            free_in_ms=72_000 if self.held_by_others else None,
            oldest_ms=252_000 if free else None, sla_ms=300_000,
        )  # fmt: skip

    def take_over(self, body: dict[str, Any]) -> MyLease:
        if self.mine is not None and self.mine.lease_token != body["claim_key"]:
            self.fates[self.mine.lease_token] = {"now": "taken_over", "can_reclaim": False}
            self.mine = msgspec.structs.replace(
                self.mine, lease_token=body["claim_key"], terminal=body["terminal"]
            )
        return MyLease(lease=self.mine)

    def park(self, item_id: str, body: dict[str, Any]) -> Parked:
        self.parked.append(body)
        self.mine = None
        return Parked(item_id=item_id, wake_at=START + timedelta(days=3))

    def claim(self, terminal: str | None = None) -> ClaimAnswer:
        if self.mine is None and self.waiting:
            self.number += 1
            options = {"terminal": terminal, **self.lease_options}
            self.mine = samples.lease(self.waiting.pop(0), number=self.number, **options)
        return ClaimAnswer(lease=self.mine, figures=None if self.mine else self.figures())

    def record(self, item_id: str, body: dict[str, Any]) -> VerdictAnswer:
        token = body["verdict_token"]
        if token not in self.verdicts:
            held, self.mine = self.mine, None
            assert held is not None
            assert held.item_id == item_id
            decision = DecisionPart(
                decision_id=str(len(self.verdicts) + 1), item_id=item_id,
                content_id=held.content_id, verdict=body["verdict"], outcome=Outcome.REMOVE,
                reason=body["reason"], recorded_at=START,
                takes_effect_at=START + timedelta(seconds=10),
            )  # fmt: skip
            self.verdicts[token] = VerdictAnswer(decision=decision)
        stored = self.verdicts[token]
        after = self.claim(body.get("terminal")) if body.get("claim_next") else None
        return VerdictAnswer(decision=stored.decision, next=after)

    def release(self, item_id: str, body: dict[str, Any]) -> Released:
        self.released.append(body["reason"])
        self.mine = None
        return Released(item_id=item_id)


class Stream(httpx.AsyncByteStream):
    """One connection that listens; None ends it in the middle, as a broken wire would."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(self, piece: bytes | None) -> None:
        self._pieces.put_nowait(piece)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            piece = await self._pieces.get()
            if piece is None:
                raise httpx.ReadError("cut")
            yield piece


def health() -> Health:
    """Return figures of a busy afternoon."""
    rows = (
        ("posts", 412, 48, 2, 1, 252_000, 300_000, (0, 371, 29, 8, 3, 1)),
        ("cases", 204, 41, 0, 0, 662_000, 600_000, (180, 20, 4, 0, 0, 0)),
        ("escalation", 12, 3, 0, 0, 6_060_000, 14_400_000, (0, 0, 0, 9, 2, 1)),
    )
    queues = tuple(
        QueueHealth(
            queue=queue, title=queue.capitalize(), waiting=waiting, in_review=in_review,
            lapsed=lapsed, escalating=escalating, oldest_ms=oldest, sla_ms=sla, lease_counts=counts,
        )
        for queue, waiting, in_review, lapsed, escalating, oldest, sla, counts in rows
    )  # fmt: skip
    return Health(
        as_of=START, queues=queues, not_applied=3, not_applied_oldest_ms=412_000,
        not_applied_after_ms=300_000, waiting_to_apply=7, dead=1, held=12, decided_last_hour=487,
        policy_version="standard-1",
    )  # fmt: skip


def _json(value: Any) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return httpx.Response(200, content=msgspec.json.encode(value), headers=headers)

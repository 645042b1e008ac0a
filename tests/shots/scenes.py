"""Which screens are pictured, and what has to happen before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import msgspec

from shared.problems import ProblemCode
from shared.vocabulary import NewsKind
from tests.tui import samples
from tests.tui.fake_server import FakeServer, problem

Prepare = Callable[[FakeServer], None]
HOSTILE = samples.evidence(
    samples.HOSTILE, hits=(samples.hit(samples.HOSTILE, "cans and a lighter"),)
)
POST = samples.evidence(hits=(samples.hit(samples.POST, "cans and a lighter"),))
HELD = samples.evidence(
    scores={**samples.SCORES, "child_safety": None}, deciding="child_safety", content_id="p-77ab01"
)
CASE = samples.kyc()
PLAIN = samples.evidence()
WITH_FILES = msgspec.structs.replace(CASE, attachments=("a3" * 32, "4f" * 32, "0c" * 32))
WAIT = "<wait>"
"""In a scene's keys: wait until the new item counts keys."""


@dataclass(frozen=True)
class Scene:
    """One picture: its name, size, items, keys and options of the start."""

    name: str
    items: tuple[Any, ...] = (POST, CASE)
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 40)
    prepare: Prepare | None = None
    options: dict[str, Any] = field(default_factory=dict)


def _stale(server: FakeServer) -> None:
    server.fail(
        "verdict",
        lambda: problem(
            ProblemCode.STALE_LEASE, 409, now="leased", since="2026-11-28T14:05:30Z",
            holder="d.chen", can_reclaim=False,
        ),
    )  # fmt: skip


NEWER = msgspec.structs.replace(
    samples.evidence(
        samples.POST.replace("on Friday night", "on Sunday").replace("Bring friends. ", ""),
        scores={**samples.SCORES, "violence": "0.97", "hate": "0.65"},
    ),
    revision=2,
)


def _changed(server: FakeServer) -> None:
    def move() -> httpx.Response:
        server.revise(NEWER)
        return problem(ProblemCode.EVIDENCE_CHANGED, 409)

    server.fail("verdict", move)


def _told(server: FakeServer) -> None:
    """Let the evidence change once the item has been claimed."""

    def move() -> httpx.Response:
        server.revise(NEWER)
        server.tell(NewsKind.EVIDENCE_CHANGED, "1001")
        return httpx.Response(200, content=b'{"expires_in_ms":170000,"capped":false}')

    server.streams = []
    server.fail("renew", move)


def _elsewhere(server: FakeServer) -> None:
    server.mine = samples.lease(samples.evidence(), terminal="desk-2-4f1a09", expires_in_ms=72_000)


def _taken_over(server: FakeServer) -> None:
    def move() -> httpx.Response:
        server.lose(now="taken_over", since="2026-11-28T14:05:30Z")
        server.tell(NewsKind.LEASE_REVOKED, "1001")
        return httpx.Response(503)

    server.streams = []
    server.fail("renew", move)


def _offline(server: FakeServer) -> None:
    def cut() -> httpx.Response:
        raise httpx.ConnectError("no route")

    server.fail("verdict", *[cut] * 1000)


def _busy(server: FakeServer) -> None:
    server.held_by_others, server.not_for_me = 2, 3


def _lapsed(server: FakeServer) -> None:
    server.lease_options = {"expires_in_ms": -41_000}


def _urgent(server: FakeServer) -> None:
    server.lease_options = {"expires_in_ms": 30_000}


_QUESTION = ("P", "1", "2", *"Is the stamp real", "question_mark")
_NOTE = ("c", *"ok", "enter")
SCENES = (
    Scene("review-80x24", (HOSTILE, CASE), size=(80, 24)),
    Scene("review-120x40", (HOSTILE, CASE)),
    Scene("review-200x60", (HOSTILE, CASE), size=(200, 60)),
    Scene("review-light", (HOSTILE, CASE), options={"theme": "light"}),
    Scene("review-high-contrast", (HOSTILE, CASE), options={"theme": "high-contrast"}),
    Scene("review-mono", (HOSTILE, CASE), options={"theme": "mono"}),
    Scene("reasons-80x24", (HOSTILE,), ("r",), (80, 24)),
    Scene("reasons-120x40", (POST,), ("r",)),
    Scene("contradiction", (POST,), ("a", "1")),
    Scene("give-back", (POST,), ("s",)),
    Scene("receipt", (POST, CASE), ("r", "2", WAIT)),
    Scene("held", (HELD,)),
    Scene("case", (CASE,), options={"hint": "Nothing is sent until you pick a reason: try r, 3"}),
    Scene("note", (POST,), ("c", *"Meeting place given")),
    Scene("urgent", (POST,), prepare=_urgent),
    Scene("lapsed", (POST,), prepare=_lapsed),
    Scene("stale", (POST,), (*_NOTE, "r", "1"), prepare=_stale),
    Scene("stale-80x24", (POST,), (*_NOTE, "r", "1"), (80, 24), prepare=_stale),
    Scene("taken-over", (POST,), (*_NOTE, "R", WAIT), prepare=_taken_over),
    Scene("elsewhere", (CASE,), prepare=_elsewhere),
    Scene("evidence-changed", (PLAIN,), (*_NOTE, "r", "1"), prepare=_changed),
    Scene("evidence-changed-80x24", (PLAIN,), ("a", "1"), (80, 24), prepare=_changed),
    Scene("evidence-told", (PLAIN,), ("R", WAIT), prepare=_told),
    Scene("evidence-looked-at", (PLAIN,), ("R", WAIT, "d"), prepare=_told),
    Scene("park", (POST,), ("P",)),
    Scene("park-until-80x24", (POST,), ("P", "1"), (80, 24)),
    Scene("park-question", (POST,), _QUESTION),
    Scene("parked", (POST, CASE), ("P", "2", "5", WAIT)),
    Scene("attachments", (WITH_FILES,)),
    Scene("offline", (POST,), ("r", "1", WAIT), prepare=_offline),
    Scene("empty", (), prepare=_busy),
    Scene("queues", (POST, CASE), ("Q",)),
    Scene("help", (POST,), ("question_mark",)),
    Scene("too-small", (POST,), size=(72, 20)),
    Scene("lead-80x24", (), size=(80, 24), options={"view": "lead"}),
    Scene("lead-120x40", (), options={"view": "lead"}),
    Scene("lead-200x60", (), size=(200, 60), options={"view": "lead"}),
)

"""The contents and their event chains against the model, and against each other."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any, TypeAlias

import asyncpg

from backend.domain.ledger import Event, follow
from shared.vocabulary import EventType
from tests.model.reference.records import DECIDED
from tests.model.reference.world import World
from tests.model.told import moment

Admin: TypeAlias = "asyncpg.Connection[Any]"


async def agree_on_contents(admin: Admin, world: World) -> None:
    """Raise AssertionError where a content, its evidence or its trail is not what it should be."""
    trails: dict[int, list[asyncpg.Record]] = defaultdict(list)
    for row in await admin.fetch("SELECT * FROM event ORDER BY content_id, seq"):
        trails[row["content_id"]].append(row)
    shown: dict[int, list[str]] = defaultdict(list)
    for row in await admin.fetch("SELECT * FROM evidence ORDER BY content_id, revision"):
        shown[row["content_id"]].append(row["hash"].hex())
        assert row["revision"] == len(shown[row["content_id"]]), "a revision is missing"
    rows = await admin.fetch("SELECT * FROM content")
    assert {row["content_id"] for row in rows} == set(world.contents), "a content came or went"
    for row in rows:
        trail = trails[row["id"]]
        _trail_is_whole(row, trail)
        _state_is_what_was_told(row, trail)
        _chain_is_a_line(row, world)
        content = world.contents[row["content_id"]]
        assert [event["type"] for event in trail] == content.events
        assert shown[row["id"]] == content.evidence
        gone = None if row["withdrawn_at"] is None else moment(row["withdrawn_at"])
        found = (row["state"], row["head_decision"], row["applied_decision"], gone)
        assert found == (content.state, content.head, content.applied, content.withdrawn)
        assert row["revision"] == len(content.evidence)


def _trail_is_whole(row: asyncpg.Record, trail: list[asyncpg.Record]) -> None:
    events = [
        Event(
            seq=event["seq"],
            type=EventType(event["type"]),
            prev_hash=event["prev_hash"],
            canonical=event["canonical"],
            hash=event["hash"],
        )
        for event in trail
    ]
    end = follow(row["content_id"], events)
    assert (end.fault, end.seq, end.hash) == (None, row["seq"], row["chain_head"])


def _state_is_what_was_told(row: asyncpg.Record, trail: list[asyncpg.Record]) -> None:
    """Fold the events, and nothing but the events, into the state of the content."""
    state = settled = "pending"
    head = applied = None
    for event in trail:
        data = json.loads(event["canonical"])["data"]
        match event["type"]:
            case "decision.recorded":
                assert data["supersedes"] == head
                head = data["decision"]
            case "decision.applied":
                state, applied = data["state"], _applied(data, applied)
                head = head or data["decision"]
                settled = state if state in DECIDED else settled
            case "item.queued" if state in DECIDED and data["source"] in ("reopen", "evidence"):
                state = "in_review"
            case "item.withdrawn" | "content.withdrawn" if state == "in_review":
                state = settled
            case _:
                pass
    stored = [row["head_decision"], row["applied_decision"]]
    assert [row["state"], *(pk and str(pk) for pk in stored)] == [state, head, applied]


def _applied(data: dict[str, Any], before: str | None) -> str | None:
    decision: str = data["decision"]
    return before if data["outcome"] == "none" else decision


def _chain_is_a_line(row: asyncpg.Record, world: World) -> None:
    """From the head one comes to every decision of the content, each once."""
    of_this = {d.pk: d for d in world.decisions.values() if d.content == row["content_id"]}
    at, seen = row["head_decision"], []
    while at is not None:
        seen.append(at)
        at = of_this[at].supersedes
    assert sorted(seen) == sorted(of_this)

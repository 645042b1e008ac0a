"""The rows against the model, and what must hold of the rows whatever the model says."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any, TypeAlias

import asyncpg

from backend.domain.ledger import Event, follow
from shared.vocabulary import EventType
from tests.model.players import moment
from tests.model.reference import OUTCOMES, Decision, Item, World

Admin: TypeAlias = "asyncpg.Connection[Any]"


async def agree(admin: Admin, world: World) -> None:
    """Raise AssertionError where the rows are not what the model says, or break a law."""
    await _items(admin, world)
    await _leases(admin, world)
    await _decisions(admin, world)
    await _contents(admin, world)
    everything_stays_reachable(world)


async def _items(admin: Admin, world: World) -> None:
    rows = await admin.fetch(
        "SELECT i.*, n.content_id AS name FROM item i JOIN content n ON n.id = i.content_id"
    )
    found = {row["id"]: _item_row(row) for row in rows}
    assert found == {item.pk: _item(item) for item in world.items.values()}
    live = Counter(
        row["owner"]
        for row in rows
        if row["state"] == "leased" and moment(row["lease_expires"]) > world.now
    )
    assert not [person for person, count in live.items() if count > 1], "two live leases at once"


def _item_row(row: asyncpg.Record) -> dict[str, Any]:
    plain = ("queue", "round", "rank", "state", "owner", "lease_count", "left_by", "abandoned")
    times = ("leased_at", "lease_expires", "escalated_at", "stuck_at", "first_enqueued_at")
    return {
        "content": row["name"],
        **{name: row[name] for name in plain},
        **{name: None if row[name] is None else moment(row[name]) for name in times},
        "token": None if row["fence_token"] is None else str(row["fence_token"]),
        "key": None if row["claim_key"] is None else str(row["claim_key"]),
        "resolution": row["resolution"],
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "content": item.content,
        "queue": item.queue,
        "round": item.round,
        "rank": item.rank,
        "state": item.state,
        "owner": item.owner,
        "lease_count": item.leases,
        "left_by": item.left_by,
        "abandoned": item.abandoned,
        "leased_at": item.leased_at,
        "lease_expires": item.expires,
        "escalated_at": item.escalated,
        "stuck_at": item.stuck,
        "first_enqueued_at": item.first,
        "token": item.token,
        "key": item.key,
        "resolution": "decided" if item.state == "resolved" else None,
    }


async def _leases(admin: Admin, world: World) -> None:
    log = await admin.fetch("SELECT * FROM lease_log ORDER BY id")
    found: dict[int, list[Any]] = defaultdict(list)
    for row in log:
        token = None if row["token"] is None else str(row["token"])
        found[row["item_id"]].append((row["happening"], row["principal_id"], token, row["reason"]))
    told: dict[int, list[Any]] = defaultdict(list)
    for item, *rest in world.log:
        told[item].append(tuple(rest))
    assert found == told
    rows = await admin.fetch("SELECT item_id, principal_id, until, why FROM exclusion")
    away = Counter((row[0], row[1], moment(row[2]), row[3]) for row in rows)
    assert away == Counter(world.kept_away)


async def _decisions(admin: Admin, world: World) -> None:
    rows = await admin.fetch(
        "SELECT d.*, n.content_id AS name FROM decision d JOIN content n ON n.id = d.content_id"
    )
    assert {row["id"]: _decision_row(row) for row in rows} == world.decisions
    tokens = Counter(row["lease_token"] for row in rows)
    assert all(count == 1 for count in tokens.values()), "two decisions on one lease"
    waiting = {row[0] for row in await admin.fetch("SELECT decision_id FROM pending_apply")}
    done = [row[0] for row in await admin.fetch("SELECT decision_id FROM applied")]
    assert waiting == set(world.waiting)
    assert sorted(done) == sorted(set(world.decisions) - waiting), "an effect was lost, or doubled"
    out = Counter(row[0] for row in await admin.fetch("SELECT decision_id FROM outbox"))
    speaking = [pk for pk in done if OUTCOMES[world.decisions[pk].verdict] != "none"]
    assert out == Counter(speaking * 2), "each outcome is told to the producer and to the trainers"


def _decision_row(row: asyncpg.Record) -> Decision:
    late = row["late_by"]
    assert row["outcome"] == OUTCOMES[row["verdict"]]
    return Decision(
        pk=row["id"],
        content=row["name"],
        item=row["item_id"],
        person=row["principal_id"],
        verdict=row["verdict"],
        token=str(row["lease_token"]),
        supersedes=row["supersedes"],
        late=int(late.total_seconds()),
        at=moment(row["recorded_at"]),
        due=moment(row["apply_after"]),
    )


async def _contents(admin: Admin, world: World) -> None:
    trails: dict[int, list[asyncpg.Record]] = defaultdict(list)
    for row in await admin.fetch("SELECT * FROM event ORDER BY content_id, seq"):
        trails[row["content_id"]].append(row)
    rows = await admin.fetch("SELECT * FROM content")
    assert {row["content_id"] for row in rows} == set(world.contents), "a content came or went"
    for row in rows:
        trail = trails[row["id"]]
        _trail_is_whole(row, trail)
        _state_is_what_was_told(row, trail)
        _chain_is_a_line(row, world)
        content = world.contents[row["content_id"]]
        assert [event["type"] for event in trail] == content.events
        found = (row["state"], row["head_decision"], row["applied_decision"])
        assert found == (content.state, content.head, content.applied)


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
    state, head, applied = "pending", None, None
    for event in trail:
        data = json.loads(event["canonical"])["data"]
        if event["type"] == "decision.recorded":
            assert data["supersedes"] == head
            head = data["decision"]
        elif event["type"] == "decision.applied":
            state = data["state"]
            applied = data["decision"] if data["outcome"] != "none" else applied
    stored = [row["head_decision"], row["applied_decision"]]
    assert [row["state"], *(pk and str(pk) for pk in stored)] == [state, head, applied]


def _chain_is_a_line(row: asyncpg.Record, world: World) -> None:
    """From the head one comes to every decision of the content, each once."""
    of_this = {d.pk: d for d in world.decisions.values() if d.content == row["content_id"]}
    at, seen = row["head_decision"], []
    while at is not None:
        seen.append(at)
        at = of_this[at].supersedes
    assert sorted(seen) == sorted(of_this)


def everything_stays_reachable(world: World) -> None:
    """What is undecided is held, on its way up, or open to somebody, if only after a wait."""
    for item in world.open_items():
        staff = [person for person, rooms in world.rooms.items() if item.queue in rooms]
        assert staff, "nobody works where it lies"
        assert item.state in ("leased", "queued")
    open_rounds = Counter(item.content for item in world.open_items())
    assert all(count == 1 for count in open_rounds.values())

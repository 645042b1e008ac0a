"""The rows against the model, and what must hold of the rows whatever the model says."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, TypeAlias

import asyncpg

from tests.model.reference.records import Decision, Item, Question, Row
from tests.model.reference.world import World
from tests.model.told import Near, moment
from tests.model.trail import agree_on_contents

Admin: TypeAlias = "asyncpg.Connection[Any]"
ENDS = {"release", "lapse", "park", "move", "escalate", "withdraw", "take_back"}
"""How a token ends, besides a decision and a newer token of the same person."""
DATES = {
    "leased": "leased_at",
    "expires": "lease_expires",
    "parked": "parked_at",
    "wakes": "wake_at",
    "escalated": "escalated_at",
    "moved": "moved_at",
    "stuck": "stuck_at",
    "first": "first_enqueued_at",
    "resolved": "resolved_at",
}


async def agree(admin: Admin, world: World) -> None:
    """Raise AssertionError where the rows are not what the model says, or break a law."""
    await _items(admin, world)
    await _leases(admin, world)
    await _decisions(admin, world)
    await _questions(admin, world)
    await agree_on_contents(admin, world)
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
    plain = ("queue", "round", "source", "severity", "state", "resolution", "owner", "terminal")
    counts = ("lease_count", "lease_epoch", "left_by", "abandoned", "evidence_revision")
    open_still = row["state"] != "resolved"
    return {
        "content": row["name"],
        **{name: row[name] for name in (*plain, *counts)},
        **{name: _date(row[column]) for name, column in DATES.items()},
        "rank": Near(row["rank"]),
        "sla_from": _date(row["sla_from"]) if open_still else None,
        "token": None if row["fence_token"] is None else str(row["fence_token"]),
        "key": None if row["claim_key"] is None else str(row["claim_key"]),
    }


def _date(at: Any) -> int | None:
    return None if at is None else moment(at)


def _item(item: Item) -> dict[str, Any]:
    plain = ("content", "queue", "round", "source", "severity", "state", "resolution", "owner")
    more = ("terminal", "left_by", "abandoned", "token", "key")
    dates = ("expires", "parked", "wakes", "escalated", "moved", "stuck", "first", "resolved")
    return {
        **{name: getattr(item, name) for name in (*plain, *more, *dates)},
        "leased": item.leased_at,
        "lease_count": item.leases,
        "lease_epoch": item.epoch,
        "evidence_revision": item.revision,
        "rank": item.rank,
        "sla_from": None if item.state == "resolved" else item.sla_from,
    }


async def _leases(admin: Admin, world: World) -> None:
    rows = await admin.fetch("SELECT * FROM lease_log ORDER BY id")
    found: dict[int, list[Row]] = defaultdict(list)
    for row in map(_log_row, rows):
        found[row.item].append(row)
    told: dict[int, list[Row]] = defaultdict(list)
    for row in world.log:
        told[row.item].append(row)
    assert found == told
    for item, log in found.items():
        _every_token_ends(world.items[item], log, world)
    away = await admin.fetch("SELECT item_id, principal_id, until, why FROM exclusion")
    kept = Counter((row[0], row[1], moment(row[2]), row[3]) for row in away)
    assert kept == Counter(world.kept_away)


def _log_row(row: asyncpg.Record) -> Row:
    return Row(
        item=row["item_id"],
        happening=row["happening"],
        person=row["principal_id"],
        epoch=row["lease_epoch"],
        token=None if row["token"] is None else str(row["token"]),
        reason=row["reason"],
        by=row["by_principal"],
        expires=_date(row["expires_at"]),
    )


def _every_token_ends(item: Item, log: list[Row], world: World) -> None:
    """Of each token that is no fence any more, the rows alone say how it ended."""
    decided = {made.token for made in world.decisions.values()}
    ends = {row.epoch for row in log if row.happening in ENDS}
    carried = {row.epoch - 1 for row in log if row.happening == "take_over"}
    for row in log:
        if row.token not in (None, item.token):
            assert row.token in decided or row.epoch in ends | carried, row
    epochs = [row.epoch for row in log if row.token is not None]
    assert epochs == sorted(set(epochs)), "an epoch is one token"


async def _decisions(admin: Admin, world: World) -> None:
    rows = await admin.fetch(
        "SELECT d.*, n.content_id AS name FROM decision d JOIN content n ON n.id = d.content_id"
    )
    assert {row["id"]: _decision_row(row) for row in rows} == world.decisions
    tokens = Counter(row["lease_token"] for row in rows if row["lease_token"] is not None)
    assert all(count == 1 for count in tokens.values()), "two decisions on one lease"
    waiting = {row[0] for row in await admin.fetch("SELECT decision_id FROM pending_apply")}
    done = dict(await admin.fetch("SELECT decision_id, result FROM applied"))
    assert waiting == set(world.waiting)
    assert sorted(done) == sorted(set(world.decisions) - waiting), "an effect was lost, or doubled"
    assert {pk for pk, result in done.items() if result == "skipped"} == world.skipped
    out = Counter(
        row[0]
        for row in await admin.fetch("SELECT decision_id FROM outbox WHERE decision_id IS NOT NULL")
    )
    assert out == _told_outside(world), "each outcome is told to the producer and to the trainers"


def _told_outside(world: World) -> Counter[int]:
    """The producer hears of every outcome, the trainers of what a person said."""
    done = set(world.decisions) - set(world.waiting) - world.skipped
    speaking = [pk for pk in done if world.decisions[pk].outcome != "none"]
    return Counter({pk: 2 if world.decisions[pk].person else 1 for pk in speaking})


def _decision_row(row: asyncpg.Record) -> Decision:
    late = row["late_by"]
    return Decision(
        pk=row["id"],
        content=row["name"],
        outcome=row["outcome"],
        item=row["item_id"],
        person=row["principal_id"],
        verdict=row["verdict"],
        token=None if row["lease_token"] is None else str(row["lease_token"]),
        supersedes=row["supersedes"],
        late=None if late is None else int(late.total_seconds()),
        at=moment(row["recorded_at"]),
        due=moment(row["apply_after"]),
    )


async def _questions(admin: Admin, world: World) -> None:
    """Every parking asks its producer, once, also where it says nothing in words."""
    rows = await admin.fetch("SELECT * FROM question ORDER BY id")
    found = [
        Question(
            item=row["item_id"],
            person=row["principal_id"],
            reason=row["reason"],
            text=row["text"],
            asked=moment(row["asked_at"]),
            wakes=moment(row["wake_at"]),
        )
        for row in rows
    ]
    assert found == world.questions
    out = await admin.fetch("SELECT question_id, kind, key FROM outbox WHERE question_id > 0")
    told = [(row["id"], "question", f"question:{row['id']}") for row in rows]
    assert sorted(map(tuple, out)) == sorted(told)


def everything_stays_reachable(world: World) -> None:
    """What is undecided is held, on its way up, asleep until a date, or open to somebody."""
    for item in world.open_items():
        staff = [person for person, rooms in world.rooms.items() if item.queue in rooms]
        assert staff, "nobody works where it lies"
        assert item.state in ("leased", "queued", "parked")
    open_rounds = Counter(item.content for item in world.open_items())
    assert all(count == 1 for count in open_rounds.values())

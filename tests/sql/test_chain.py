"""Two chains of each content: its decisions, one over the other, and its events, hash by hash."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import asyncpg
import pytest

from backend.domain.ledger import GENESIS, event_hash
from backend.domain.states import may_supersede
from shared.vocabulary import Actor
from tests.sql.rows import AUTOMATIC, insertion
from tests.sql.world import make_world

Connection = Any
ACTORS = ("rules", "model", "reviewer", "appeal")
# Everything that may not supersede, and what it may not supersede.
OUTRANKED = [
    ("rules", "reviewer"),
    ("model", "reviewer"),
    ("rules", "appeal"),
    ("model", "appeal"),
    ("reviewer", "appeal"),
]


@pytest.fixture(scope="module")
async def small_world(module_runtime: Connection) -> Connection:
    """The runtime role in a world where contents 3 and 4 have no history yet."""
    await make_world(module_runtime)
    return module_runtime


@pytest.fixture
async def world(small_world: Connection) -> AsyncIterator[Connection]:
    """The same, with all that a test does undone."""
    transaction = small_world.transaction()
    await transaction.start()
    yield small_world
    await transaction.rollback()


@contextlib.asynccontextmanager
async def refused(
    world: Connection, by: type[Exception], match: str | None = None
) -> AsyncIterator[None]:
    """Expect a refusal, and go on as if nothing had been tried."""
    with pytest.raises(by, match=match):
        async with world.transaction():
            yield


async def decide(world: Connection, actor: str, supersedes: int | None, content: int = 3) -> int:
    """Write one decision of this actor."""
    after = {"supersedes": str(supersedes or "NULL"), "content_id": str(content)}
    if actor in ("rules", "model"):
        said = {**AUTOMATIC, "actor": f"'{actor}'"}
    else:
        kind = "verdict" if actor == "reviewer" else "appeal"
        said = {"actor": f"'{actor}'", "kind": f"'{kind}'"}
    statement = insertion("decision", {**said, **after})
    key: int = await world.fetchval(f"{statement} RETURNING id")
    return key


def test_the_trigger_and_the_domain_hold_the_same_precedence() -> None:
    outranked = [(a, b) for a in ACTORS for b in ACTORS if not may_supersede(Actor(a), Actor(b))]
    assert sorted(outranked) == sorted(OUTRANKED)


@pytest.mark.parametrize(("weak", "strong"), OUTRANKED)
async def test_a_weaker_actor_never_supersedes_a_stronger_one(
    world: Connection, weak: str, strong: str
) -> None:
    first = await decide(world, strong, None)
    async with refused(world, asyncpg.RestrictViolationError):
        await decide(world, weak, first)


@pytest.mark.parametrize(
    ("later", "earlier"),
    [(a, b) for a in ACTORS for b in ACTORS if (a, b) not in OUTRANKED],
)
async def test_every_other_actor_may_supersede(world: Connection, later: str, earlier: str) -> None:
    first = await decide(world, earlier, None)
    assert await decide(world, later, first) > first


async def test_a_content_has_one_first_decision(world: Connection) -> None:
    await decide(world, "model", None)
    async with refused(world, asyncpg.UniqueViolationError, "decision_root"):
        await decide(world, "reviewer", None)


async def test_a_decision_is_superseded_once(world: Connection) -> None:
    first = await decide(world, "model", None)
    await decide(world, "reviewer", first)
    async with refused(world, asyncpg.UniqueViolationError, "decision_supersedes_key"):
        await decide(world, "reviewer", first)


async def test_a_chain_stays_within_its_content(world: Connection) -> None:
    first = await decide(world, "model", None, content=3)
    async with refused(world, asyncpg.ForeignKeyViolationError, "decision_supersedes_content_id"):
        await decide(world, "model", first, content=4)


async def test_a_decision_never_supersedes_itself(world: Connection) -> None:
    first = await decide(world, "model", None)
    async with refused(world, asyncpg.CheckViolationError, "decision_check"):
        await decide(world, "model", first + 1)


async def test_a_content_never_points_at_a_decision_of_another(world: Connection) -> None:
    other = await decide(world, "model", None, content=3)
    for column in ("head_decision", "applied_decision"):
        async with refused(world, asyncpg.ForeignKeyViolationError):
            await world.execute(
                f"UPDATE content SET {column} = $1, actor = CASE '{column}'"
                " WHEN 'applied_decision' THEN 'model' END WHERE id = 4",
                other,
            )


async def test_a_verdict_is_bound_to_the_evidence_of_its_own_content(world: Connection) -> None:
    async with refused(world, asyncpg.ForeignKeyViolationError, "evidence_hash"):
        await world.execute(insertion("decision", {"evidence_hash": "sha256('4.1')"}))


async def append(
    world: Connection, seqs: Sequence[int], prevs: Sequence[bytes], *, content: int = 3
) -> list[bytes]:
    """Append events with true hashes, in one statement."""
    hashes = [event_hash(prev, b"event") for prev in prevs]
    await world.execute(
        "INSERT INTO event (content_id, seq, type, prev_hash, canonical, hash)"
        " SELECT $1, seq, 'item.queued', prev, 'event'::bytea, hash"
        " FROM unnest($2::bigint[], $3::bytea[], $4::bytea[]) AS t (seq, prev, hash)",
        content,
        seqs,
        prevs,
        hashes,
    )
    return hashes


async def test_a_true_chain_grows_one_by_one_and_many_at_once(world: Connection) -> None:
    (first,) = await append(world, [1], [GENESIS])
    second = event_hash(first, b"event")
    hashes = await append(world, [2, 3], [first, second])
    await append(world, [4], [hashes[-1]])
    assert await world.fetchval("SELECT count(*) FROM event WHERE content_id = 3") == 4


@pytest.mark.parametrize(
    ("seqs", "follows"),
    [
        ([2], ["genesis"]),
        ([2], ["stranger"]),
        ([3], ["first"]),
        ([3], ["genesis"]),
        ([2, 3], ["first", "first"]),
    ],
)
async def test_a_broken_link_is_refused(
    world: Connection, seqs: list[int], follows: list[str]
) -> None:
    (first,) = await append(world, [1], [GENESIS])
    known = {"genesis": GENESIS, "first": first, "stranger": hashlib.sha256(b"?").digest()}
    async with refused(world, asyncpg.RestrictViolationError, "the chain is broken"):
        await append(world, seqs, [known[name] for name in follows])


async def test_a_chain_does_not_begin_in_the_middle(world: Connection) -> None:
    async with refused(world, asyncpg.RestrictViolationError):
        await append(world, [2], [GENESIS])
    async with refused(world, asyncpg.CheckViolationError, "first_follows_nothing"):
        await append(world, [1], [hashlib.sha256(b"?").digest()])


async def test_a_chain_has_one_event_a_place(world: Connection) -> None:
    await append(world, [1], [GENESIS])
    async with refused(world, asyncpg.UniqueViolationError):
        await append(world, [1], [GENESIS])


async def test_a_chain_does_not_follow_another_content(world: Connection) -> None:
    (first,) = await append(world, [1], [GENESIS], content=3)
    async with refused(world, asyncpg.RestrictViolationError):
        await append(world, [2], [first], content=4)


async def test_an_event_whose_hash_is_not_true_is_refused(world: Connection) -> None:
    async with refused(world, asyncpg.CheckViolationError, "hash_is_true"):
        await world.execute(insertion("event", {"canonical": "'another'"}))


@pytest.mark.parametrize(
    "change",
    ["seq = seq - 1", "chain_head = sha256('x')", "seq = 0, chain_head = sha256('x')"],
)
async def test_the_end_of_a_chain_only_moves_on(world: Connection, change: str) -> None:
    await world.execute("UPDATE content SET seq = 2 WHERE id = 3")
    async with refused(world, asyncpg.RestrictViolationError):
        await world.execute(f"UPDATE content SET {change} WHERE id = 3")

"""The closed words are the same in Python and in the schema's CHECKs."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

import asyncpg
import pytest

from shared import vocabulary as words
from shared.wire.evidence import BLOB_TYPES

ENUMS: dict[str, type[StrEnum]] = {
    "appeal.original_actor": words.Actor,
    "applied.result": words.AppliedResult,
    "api_key.env": words.KeyEnv,
    "content.actor": words.Actor,
    "content.state": words.ContentState,
    "decision.actor": words.Actor,
    "decision.band": words.Band,
    "decision.kind": words.DecisionKind,
    "decision.outcome": words.Outcome,
    "decision.verdict": words.Verdict,
    "event.type": words.EventType,
    "item.resolution": words.Resolution,
    "item.source": words.ItemSource,
    "item.state": words.ItemState,
    "lease_log.happening": words.LeaseHappening,
    "question.reason": words.ParkReason,
    "role_grant.role": words.Role,
    "score.mode": words.ScoreMode,
}
# Words that only the database uses so far.
OF_THE_SCHEMA = {
    "appeal.state": {"queued", "in_review", "upheld", "overturned", "withdrawn"},
    "exclusion.why": {"released", "lapsed", "author", "decided_before", "conflict", "four_eyes"},
    "principal.kind": {"person", "service"},
}
# Words that are no names of ours.
OF_NO_ENUM = {"blob.media_type": BLOB_TYPES}
# One column that holds the words of several enums, and two of the house's own.
OF_SEVERAL = {"lease_log.reason": words.LEASE_REASONS}
# Words that are stored in such a column only.
AMONG_OTHERS = {words.ReleaseReason, words.TakeBackReason}
# Words of an enum that its column never holds: what they say is a row elsewhere.
TOLD_FROM_ELSEWHERE = {"lease_log.happening": {words.LeaseHappening.VERDICT.value}}
# Words that are made up on the way and never stored.
OF_THE_WIRE = {words.ItemNow, words.NewsKind, words.BulkResult, words.ItemList}

_LIST = re.compile(r"CHECK \(\((\w+) = ANY \(ARRAY\[(.+)\]\)\)\)")


@pytest.fixture(scope="module")
async def lists(module_admin: asyncpg.Connection[Any]) -> dict[str, list[str]]:
    """Every CHECK that lists the values of one column."""
    rows = await module_admin.fetch(
        "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contype = 'c' AND connamespace = 'fencepost'::regnamespace"
    )
    found = {}
    for table, rule in rows:
        listed = _LIST.fullmatch(rule)
        if listed:
            found[f"{table}.{listed[1]}"] = re.findall(r"'([^']*)'", listed[2])
    return found


async def test_every_list_of_words_is_known(lists: dict[str, list[str]]) -> None:
    assert set(lists) == set(ENUMS) | set(OF_THE_SCHEMA) | set(OF_SEVERAL) | set(OF_NO_ENUM)


@pytest.mark.parametrize("column", ENUMS)
async def test_an_enum_and_its_check_hold_the_same_words(
    lists: dict[str, list[str]], column: str
) -> None:
    stored = {word.value for word in ENUMS[column]} - TOLD_FROM_ELSEWHERE.get(column, set())
    assert set(lists[column]) == stored


@pytest.mark.parametrize("column", OF_NO_ENUM)
async def test_a_list_that_is_no_enum_is_the_same_in_the_schema(
    lists: dict[str, list[str]], column: str
) -> None:
    assert sorted(lists[column]) == sorted(OF_NO_ENUM[column])


@pytest.mark.parametrize("column", OF_SEVERAL)
async def test_a_column_of_several_enums_holds_the_words_of_all(
    lists: dict[str, list[str]], column: str
) -> None:
    assert set(lists[column]) == OF_SEVERAL[column]


@pytest.mark.parametrize("column", OF_THE_SCHEMA)
async def test_words_of_the_schema_alone_are_what_they_were(
    lists: dict[str, list[str]], column: str
) -> None:
    assert set(lists[column]) == OF_THE_SCHEMA[column]


def test_every_enum_is_stored_or_known_not_to_be() -> None:
    enums = {
        value
        for value in vars(words).values()
        if isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum
    }
    assert enums == set(ENUMS.values()) | AMONG_OTHERS | OF_THE_WIRE


async def test_actors_rank_in_sql_as_in_python(module_admin: asyncpg.Connection[Any]) -> None:
    ranks = [
        await module_admin.fetchval("SELECT actor_rank($1)", actor.value) for actor in words.Actor
    ]
    assert ranks == sorted(set(ranks))
    assert await module_admin.fetchval("SELECT actor_rank('chance')") is None

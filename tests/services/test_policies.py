"""Policies: stored for ever, put in force one at a time, known to every process in a second."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

import asyncpg
import pytest

from backend.db.connection import Database
from backend.db.errors import UnavailableError
from backend.domain.policy import PolicyError
from backend.domain.refusals import Busy, InvalidField
from backend.services.policies import ActivePolicy, activate, refuse_unready, shipped_policy

Admin: TypeAlias = "asyncpg.Connection[Any]"


async def test_the_shipped_policies_can_be_put_in_force(database: Database, admin: Admin) -> None:
    for name in ("standard", "hate-offensive"):
        text = shipped_policy(name)
        policy = await activate(database, 1, text)
        assert (await ActivePolicy(database).of(1)).version == policy.version
        stored = await admin.fetchval(
            "SELECT document FROM policy_version WHERE version = $1", policy.version
        )
        assert stored == text
    with pytest.raises(KeyError):
        shipped_policy("nothing")


async def test_queues_and_names_follow_the_policy_and_are_never_lost(
    database: Database, admin: Admin
) -> None:
    standard = await activate(database, 1, shipped_policy("standard"))
    other = await activate(database, 1, shipped_policy("hate-offensive"))
    rows = await admin.fetch("SELECT name, disabled_at IS NULL AS open FROM queue")
    states = {row["name"]: row["open"] for row in rows}
    assert states.keys() == standard.queues.keys() | other.queues.keys()
    assert {name for name, is_open in states.items() if is_open} == other.queues.keys()
    categories = {row["name"] for row in await admin.fetch("SELECT name FROM category")}
    assert categories == standard.categories.keys() | other.categories.keys()
    codes = {row["code"] for row in await admin.fetch("SELECT code FROM reason")}
    assert codes >= {reason.code for reason in standard.reasons}
    await activate(database, 1, shipped_policy("standard"))
    closed = "SELECT count(*) FROM queue WHERE disabled_at IS NOT NULL AND name = ANY($1)"
    assert await admin.fetchval(closed, list(standard.queues)) == 0


async def test_the_same_text_again_changes_nothing(database: Database, admin: Admin) -> None:
    for _ in range(3):
        await activate(database, 1, shipped_policy())
    assert await admin.fetchval("SELECT count(*) FROM policy_version") == 1
    assert await admin.fetchval("SELECT count(*) FROM policy_active") == 1


async def test_a_version_never_changes_its_text(database: Database, admin: Admin) -> None:
    text = shipped_policy()
    await activate(database, 1, text)
    with pytest.raises(InvalidField) as refused:
        await activate(database, 1, text + "\n# a word more\n")
    assert refused.value.field == "version"
    assert await admin.fetchval("SELECT count(*) FROM policy_active") == 1


async def test_a_policy_with_faults_leaves_everything_as_it_was(
    database: Database, admin: Admin
) -> None:
    with pytest.raises(PolicyError):
        await activate(database, 1, "version = 'x'\n")
    assert await admin.fetchval("SELECT count(*) FROM policy_version") == 0


async def test_several_that_activate_at_once_are_harmless(database: Database, admin: Admin) -> None:
    texts = [shipped_policy("standard"), shipped_policy("hate-offensive")] * 4
    await asyncio.gather(*(activate(database, 1, text) for text in texts))
    newest = await admin.fetchval("SELECT version FROM policy_active ORDER BY id DESC LIMIT 1")
    policy = await ActivePolicy(database).of(1)
    assert policy.version == newest
    rows = await admin.fetch("SELECT name FROM queue WHERE disabled_at IS NULL")
    assert {row["name"] for row in rows} == policy.queues.keys()


async def test_a_process_notices_a_new_policy_after_its_second(database: Database) -> None:
    first = await activate(database, 1, shipped_policy("standard"))
    active = ActivePolicy(database, keep_seconds=0.05)
    assert (await active.of(1)).version == first.version
    second = await activate(database, 1, shipped_policy("hate-offensive"))
    await asyncio.sleep(0.06)
    assert (await active.of(1)).version == second.version


async def test_an_unchanged_policy_is_not_parsed_again(database: Database) -> None:
    await activate(database, 1, shipped_policy())
    active = ActivePolicy(database, keep_seconds=0)
    assert await active.of(1) is await active.of(1)


async def test_without_a_policy_nothing_can_be_served(database: Database) -> None:
    with pytest.raises(Busy):
        await ActivePolicy(database).of(1)
    with pytest.raises(Busy):
        await refuse_unready(database)


async def test_all_who_need_a_policy_that_cannot_be_read_wait_once_together(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = 0

    async def silent(*_: object) -> None:
        nonlocal readings
        readings += 1
        await asyncio.sleep(0.2)
        raise UnavailableError

    active = ActivePolicy(database)
    monkeypatch.setattr("backend.db.policy.read_active_policy", silent)
    outcomes = await asyncio.gather(*(active.of(1) for _ in range(20)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [UnavailableError] * 20
    assert readings == 1
    leaving = asyncio.create_task(active.of(1))
    await asyncio.sleep(0.05)
    staying = asyncio.create_task(active.of(1))
    leaving.cancel()
    with pytest.raises(UnavailableError):
        await staying

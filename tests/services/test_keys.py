"""Keys: their form, what is stored of them, and when their use is noted."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from typing import Any, TypeAlias

import asyncpg
import pytest

from backend.db.connection import Database
from backend.db.principal import KeyRow, find_key, touch_key
from backend.domain.refusals import InvalidField, NotFound, Unauthenticated
from backend.services import keys
from backend.services.keys import Keyring
from shared.vocabulary import KeyEnv, Role
from tests.support.gateway import identified, key_for, standard

Admin: TypeAlias = "asyncpg.Connection[Any]"

FORM = re.compile(r"fp_test_[a-z0-9]{12}_[A-Za-z0-9]{43}")


async def test_a_key_says_what_it_is_for_and_is_stored_as_a_hash_only(
    database: Database, admin: Admin
) -> None:
    key = await key_for(database)
    assert FORM.fullmatch(key)
    _, _, key_id, secret = key.split("_")
    row = await admin.fetchrow("SELECT * FROM api_key")
    assert row is not None
    assert (row["id"], row["env"]) == (key_id, "test")
    assert row["secret_sha256"] == hashlib.sha256(secret.encode()).digest()
    dump = " ".join(str(value) for value in row.values())
    assert secret not in dump


async def test_keys_are_never_alike(database: Database) -> None:
    made = {await key_for(database) for _ in range(5)}
    assert len({key.split("_")[2] for key in made}) == 5
    assert len({key.split("_")[3] for key in made}) == 5


async def test_a_key_identifies_its_principal_with_all_his_roles(database: Database) -> None:
    await standard(database)
    await key_for(database, Role.REVIEWER, "cases", name="anna")
    key = await keys.create(database, "anna", "person", Role.LEAD, None, KeyEnv.TEST)
    who = await identified(database, key)
    assert (who.name, who.tenant) == ("anna", "default")
    assert who.may(Role.LEAD, "posts")
    assert who.may(Role.REVIEWER, "cases")
    assert not who.may(Role.REVIEWER, "posts")
    assert not who.has(Role.PRODUCER)


async def test_a_key_ends_when_it_should(database: Database, admin: Admin) -> None:
    key = await keys.create(
        database, "a", "person", Role.LEAD, None, KeyEnv.TEST, timedelta(hours=1)
    )
    keyring = Keyring(database, KeyEnv.TEST, keep_seconds=0)
    assert (await keyring.identify(key)).name == "a"
    await admin.execute("UPDATE api_key SET expires_at = clock()")
    with pytest.raises(Unauthenticated):
        await keyring.identify(key)
    await keyring.close()


async def test_the_last_use_is_noted_once_a_minute_and_beside_the_request(
    database: Database, admin: Admin
) -> None:
    keyring = Keyring(database, KeyEnv.TEST, keep_seconds=0)
    key = await key_for(database)
    await keyring.identify(key)
    await keyring.close()
    first = await admin.fetchval("SELECT last_used_at FROM api_key")
    assert first is not None
    await keyring.identify(key)
    await keyring.close()
    assert await admin.fetchval("SELECT last_used_at FROM api_key") == first
    await admin.execute("UPDATE api_key SET last_used_at = last_used_at - interval '61 seconds'")
    await keyring.identify(key)
    await keyring.close()
    assert await admin.fetchval("SELECT last_used_at FROM api_key") > first


async def test_several_processes_note_one_use_a_minute(database: Database, admin: Admin) -> None:
    _, _, key_id, _ = (await key_for(database)).split("_")
    seen = []
    for _ in range(2):
        async with database.transaction() as connection:
            await touch_key(connection, key_id)
        seen.append(await admin.fetchval("SELECT last_used_at FROM api_key"))
    assert seen[0] == seen[1] is not None


async def test_a_request_neither_waits_for_the_note_nor_fails_by_it(
    database: Database, admin: Admin
) -> None:
    key = await key_for(database)
    keyring = Keyring(database, KeyEnv.TEST, keep_seconds=0)
    async with admin.transaction():
        await admin.execute("LOCK TABLE api_key IN EXCLUSIVE MODE")
        assert (await keyring.identify(key)).name == "producer-1"
    await keyring.close()
    await admin.execute("REVOKE UPDATE ON api_key FROM fencepost_runtime")
    await admin.execute("REVOKE UPDATE (last_used_at) ON api_key FROM fencepost_runtime")
    await admin.execute("UPDATE api_key SET last_used_at = NULL")
    assert (await keyring.identify(key)).name == "producer-1"
    await keyring.close()


async def test_somebody_who_knows_the_id_alone_notes_no_use(
    database: Database, admin: Admin
) -> None:
    key = await key_for(database)
    keyring = Keyring(database, KeyEnv.TEST)
    with pytest.raises(Unauthenticated):
        await keyring.identify(key[:-1] + ("a" if key[-1] != "a" else "b"))
    await keyring.close()
    assert await admin.fetchval("SELECT last_used_at FROM api_key") is None
    for _ in range(3):
        await keyring.identify(key)
    assert len(keyring._touching) == 1
    await keyring.close()
    assert await admin.fetchval("SELECT last_used_at FROM api_key") is not None


async def test_a_wrong_secret_costs_what_an_unknown_and_a_revoked_key_cost(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the time that a refusal takes would tell which ids exist."""
    looked_up = []

    async def counted(conn: Any, key_id: str) -> KeyRow | None:
        looked_up.append(key_id)
        return await find_key(conn, key_id)

    monkeypatch.setattr("backend.db.principal.find_key", counted)
    known = await key_for(database)
    revoked = await key_for(database)
    await keys.revoke(database, revoked.split("_")[2])
    keyring = Keyring(database, KeyEnv.TEST, keep_seconds=60)
    for key in (known[:-4] + "0000", f"fp_test_{'z' * 12}_{'A' * 43}", revoked):
        for _ in range(3):
            with pytest.raises(Unauthenticated):
                await keyring.identify(key)
    assert len(looked_up) == 3
    await keyring.close()


async def test_a_known_key_is_believed_for_half_a_second_and_no_longer(
    database: Database,
) -> None:
    assert keys.KEEP_SECONDS <= 0.5
    key = await key_for(database)
    keyring = Keyring(database, KeyEnv.TEST, keep_seconds=0.5)
    await keyring.identify(key)
    await keys.revoke(database, key.split("_")[2])
    assert (await keyring.identify(key)).name == "producer-1"
    keyring._kept.clear()
    with pytest.raises(Unauthenticated):
        await keyring.identify(key)
    await keyring.close()


@pytest.mark.parametrize(
    ("name", "kind", "queue", "field"),
    [
        ("An na", "person", None, "name"),
        ("", "person", None, "name"),
        ("anna\n", "person", None, "name"),
        ("anna", "robot", None, "kind"),
        ("anna", "person", "nowhere", "queue"),
    ],
    ids=["space", "empty", "line break", "kind", "queue"],
)
async def test_a_key_for_nobody_or_nowhere_is_refused(
    database: Database, name: str, kind: str, queue: str | None, field: str
) -> None:
    with pytest.raises(InvalidField) as refused:
        await keys.create(database, name, kind, Role.REVIEWER, queue, KeyEnv.TEST)
    assert refused.value.field == field


async def test_a_person_does_not_become_a_service(database: Database) -> None:
    await keys.create(database, "anna", "person", Role.REVIEWER, None, KeyEnv.TEST)
    with pytest.raises(InvalidField):
        await keys.create(database, "anna", "service", Role.PRODUCER, None, KeyEnv.TEST)


async def test_a_key_that_does_not_exist_cannot_be_revoked(database: Database) -> None:
    with pytest.raises(NotFound):
        await keys.revoke(database, "a" * 12)

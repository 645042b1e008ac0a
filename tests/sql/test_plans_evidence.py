"""The plans of evidence and attachments: as many as there are, each is found by its own key."""

from __future__ import annotations

from typing import Any

from tests.sql.crowd import FIRST_HOLDER, FIRST_ITEM, LEASED_ITEM
from tests.sql.plans import each_mode, plan_of, read_whole, undone

Connection = Any
SHOWN = 3_000
"""Contents with an attachment of their own."""

_BODIES = (
    "INSERT INTO payload (content_id, revision, body, nonce, fingerprint)"
    " SELECT n, 1, '{}', 'n', 'f' FROM generate_series($1::int, $2) AS n"
)
_BLOBS = (
    "INSERT INTO blob (tenant_id, sha256, media_type, size, bytes, created_by)"
    " SELECT 1, sha256(b), 'text/plain', length(b), b, 1"
    " FROM generate_series($1::int, $2) AS n, convert_to(n::text, 'UTF8') AS b"
)
_ATTACHED = (
    "INSERT INTO attachment (content_id, revision, place, tenant_id, sha256)"
    " SELECT n, 1, 1, 1, sha256(convert_to(n::text, 'UTF8'))"
    " FROM generate_series($1::int, $2) AS n"
)


async def attach_many(crowd: Connection) -> None:
    """Give many contents an attachment each, that of the leased item among them."""
    for first, last in ((FIRST_ITEM, FIRST_ITEM + SHOWN - 1), (LEASED_ITEM, LEASED_ITEM)):
        for statement in (_BODIES, _BLOBS, _ATTACHED):
            await crowd.execute(statement, first, last)


async def fence(crowd: Connection) -> str:
    token = await crowd.fetchval("SELECT fence_token FROM item WHERE id = $1", LEASED_ITEM)
    return f"'{token}'"


@each_mode
async def test_an_attachment_is_read_by_the_primary_key_of_its_item(
    crowd: Connection, mode: str
) -> None:
    async with undone(crowd):
        await attach_many(crowd)
        values = {
            "tenant_id": "1",
            "item_id": str(LEASED_ITEM),
            "fence_token": await fence(crowd),
            "principal_id": str(FIRST_HOLDER),
            "sha256": f"sha256('{LEASED_ITEM}')",
        }
        plan = await plan_of(crowd, "blob", "read_leased_blob", values, mode)
        assert plan.indexes("item") == {"item_pkey"}
        assert read_whole(plan) == set()
        assert plan.most("item") == 1
        assert plan.buffers <= 60
        values = {
            "tenant_id": "1",
            "content_id": f"'crowd-{LEASED_ITEM}'",
            "sha256": values["sha256"],
        }
        plan = await plan_of(crowd, "blob", "find_attached", values, mode)
        assert read_whole(plan) == set()
        assert plan.most("attachment") <= 1


@each_mode
async def test_a_revision_touches_its_own_item_and_content_alone(
    crowd: Connection, mode: str
) -> None:
    content = {"content_id": str(LEASED_ITEM)}
    async with undone(crowd):
        await attach_many(crowd)
        await crowd.execute("ANALYZE payload")
        await crowd.execute(
            "INSERT INTO applied SELECT id, 'applied', now() FROM decision ON CONFLICT DO NOTHING"
        )
        plan = await plan_of(crowd, "evidence", "read_to_revise", content, mode)
    assert read_whole(plan) == set()
    assert plan.most("item") <= 2
    two = {**content, "before_hash": "sha256('x')", "revision": "1"}
    plan = await plan_of(crowd, "evidence", "read_two_revisions", two, mode)
    assert read_whole(plan) == set()
    shown = {"item_id": str(LEASED_ITEM), "revision": "1", "severity": "1", "lift": "1"}
    plan = await plan_of(crowd, "evidence", "show_revision", {**shown, "now": "now()"}, mode)
    assert plan.indexes("item") == {"item_pkey"}
    assert read_whole(plan) == set()
    named = {"tenant_id": "1", "content_id": f"'crowd-{LEASED_ITEM}'"}
    plan = await plan_of(crowd, "evidence", "read_submitted", named, mode)
    assert read_whole(plan) <= {"payload"}  # which is as good as empty here


@each_mode
async def test_a_replay_is_found_by_its_token(crowd: Connection, mode: str) -> None:
    values = {"principal_id": str(FIRST_HOLDER), "verdict_token": "gen_random_uuid()"}
    plan = await plan_of(crowd, "verdict", "find_verdict_reply", values, mode)
    assert not read_whole(plan) & {"decision", "item", "content"}
    assert plan.buffers <= 40

"""A queue as it is after years: a long history, a backlog, and leases in front of it."""

from __future__ import annotations

from typing import Any

import asyncpg

from tests.sql.world import make_world

QUEUE = "posts"
RESOLVED, QUEUED, LEASED = 20_000, 5_000, 2_000
CLAIMER = 2
"""A person who holds nothing and may not have the first twenty."""
FIRST_ITEM = 1_001
LEASED_ITEM = FIRST_ITEM + RESOLVED + QUEUED
"""The first of the leased items."""
FIRST_HOLDER = 1_000
"""The first of those who hold the leases, one each."""

# Ids of contents and items are set by hand here, so that one number names both.
_CONTENTS = """
INSERT INTO content (id, tenant_id, content_id, kind, author_followers, submitted_by)
  OVERRIDING SYSTEM VALUE
SELECT n, 1, 'crowd-' || n, 'post', n % 1000, 1 FROM generate_series($1::int, $2) AS n
"""
_EVIDENCE = """
INSERT INTO evidence (content_id, revision, hash, bytes, policy_version)
SELECT n, 1, sha256(convert_to(n::text, 'UTF8')), convert_to(n::text, 'UTF8'), 'p-1'
FROM generate_series($1::int, $2) AS n
"""
_PEOPLE = """
INSERT INTO principal (id, tenant_id, name, kind) OVERRIDING SYSTEM VALUE
SELECT n, 1, 'person-' || n, 'person' FROM generate_series($1::int, $2) AS n
"""
_ITEMS = """
INSERT INTO item (id, tenant_id, content_id, queue, round, source, severity, base, rank, state,
  resolution, resolved_at, owner, fence_token, leased_at, lease_expires, lease_epoch, lease_count,
  first_enqueued_at, evidence_revision)
  OVERRIDING SYSTEM VALUE
SELECT n, 1, n, 'posts', 1, 'engine', 60, 600, $4::float8 + n % 997, $3,
  CASE $3 WHEN 'resolved' THEN 'decided' END, CASE $3 WHEN 'resolved' THEN now() END,
  CASE $3 WHEN 'leased' THEN 1000 + n - $1 END, CASE $3 WHEN 'leased' THEN gen_random_uuid() END,
  CASE $3 WHEN 'leased' THEN now() END, CASE $3 WHEN 'leased' THEN now() + interval '1 hour' END,
  CASE $3 WHEN 'leased' THEN 1 ELSE 0 END, CASE $3 WHEN 'leased' THEN 1 ELSE 0 END,
  now() - n * interval '1 second', 1
FROM generate_series($1::int, $2) AS n
"""
# The claimer may not have the first twenty.
_EXCLUSIONS = """
INSERT INTO exclusion (item_id, principal_id, until, why)
SELECT id, $1, now() + interval '1 hour', 'released' FROM item
WHERE state = 'queued' AND queue = 'posts' ORDER BY rank DESC LIMIT 20
"""
# Nor ever again what he has had to do with before.
_FOR_GOOD = """
INSERT INTO exclusion (item_id, content_id, principal_id, why)
SELECT CASE id % 2 WHEN 0 THEN id END, CASE id % 2 WHEN 1 THEN content_id END, $1, 'decided_before'
FROM item WHERE state = 'resolved' AND id % 8 < 2
"""
_GRANTS = """
INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, token, expires_at)
SELECT id, lease_epoch, 'grant', owner, fence_token, lease_expires FROM item
WHERE state = 'leased' AND id > 1000
"""
# People were kept away from things and leased things all the time.
_OLD_EXCLUSIONS = """
INSERT INTO exclusion (item_id, principal_id, until, why)
SELECT id, 1 + id % 3, now() - interval '1 day', 'released' FROM item WHERE state = 'resolved'
"""
_OLD_GRANTS = """
INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, token, expires_at)
SELECT id, 1, 'grant', 1 + id % 3, gen_random_uuid(), now() FROM item WHERE state = 'resolved'
"""
_DECISIONS = """
INSERT INTO decision (tenant_id, content_id, kind, actor, outcome, band, explanation, apply_after,
  policy_version)
SELECT 1, n, 'automatic', 'model', 'allow', 'ALLOW', '{}', now(), 'p-1'
FROM generate_series($1::int, $2) AS n
"""
# Verdicts whose undo window is not over; a few are due.
_PENDING = """
INSERT INTO pending_apply (decision_id, content_id, next_try_at)
SELECT id, content_id,
  now() + id * interval '1 ms'
    + CASE WHEN id % 5000 = 0 THEN -interval '1 h' ELSE interval '1 h' END
FROM decision WHERE content_id > 1000 AND id % 1000 = 0
"""


async def make_past(
    admin: asyncpg.Connection[Any],
    runtime: asyncpg.Connection[Any],
    *,
    resolved: int = RESOLVED,
) -> None:
    """Fill the history alone: what a database looks like when nobody works."""
    await make_world(runtime)
    await admin.execute(
        "UPDATE item SET state = 'resolved', resolution = 'decided',"
        " resolved_at = now(), owner = NULL, fence_token = NULL,"
        " lease_expires = NULL WHERE queue = 'posts'"
    )
    await _bulk(admin, FIRST_ITEM, resolved, "resolved", 0.0)
    await admin.execute(_OLD_EXCLUSIONS)
    await admin.execute(_OLD_GRANTS)
    await admin.execute(_DECISIONS, FIRST_ITEM, FIRST_ITEM + resolved - 1)


async def make_present(
    admin: asyncpg.Connection[Any],
    *,
    after: int = RESOLVED,
    queued: int = QUEUED,
    leased: int = LEASED,
) -> None:
    """Fill the backlog and the leases, unexpired ones ranked before everything that waits.

    `after` is the length of the history before it.
    """
    await make_people(admin, leased)
    first = FIRST_ITEM + after
    await _bulk(admin, first, queued, "queued", 1_000.0)
    await _bulk(admin, first + queued, leased, "leased", 5_000.0)
    await admin.execute(_EXCLUSIONS, CLAIMER)
    await admin.execute(_FOR_GOOD, CLAIMER)
    await admin.execute(_GRANTS)
    await admin.execute(_PENDING)


async def make_people(
    admin: asyncpg.Connection[Any], count: int, *, first: int = FIRST_HOLDER
) -> None:
    """Add persons, ids from `first` upwards."""
    await admin.execute(_PEOPLE, first, first + count - 1)


async def _bulk(
    admin: asyncpg.Connection[Any], first: int, count: int, state: str, rank: float
) -> None:
    last = first + count - 1
    async with admin.transaction():
        # Keys between these rows are right by making; looking each up takes most of the time.
        await admin.execute("SET LOCAL session_replication_role = replica")
        await admin.execute(_CONTENTS, first, last)
        await admin.execute(_EVIDENCE, first, last)
        await admin.execute(_ITEMS, first, last, state, rank)

"""The smallest world in which every table has a row; `rows.py` has one more good row for each."""

from __future__ import annotations

from typing import Any

import asyncpg

from tests.sql.rows import ANN_TOKEN, AUTOMATIC, Row, insertion

STOPPED_CLOCK = """
CREATE TABLE stopped_clock (at timestamptz NOT NULL);
INSERT INTO stopped_clock VALUES ('2030-01-01T12:00:00Z');
GRANT SELECT ON stopped_clock TO fencepost_runtime;
CREATE OR REPLACE FUNCTION clock() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS 'SELECT at FROM fencepost.stopped_clock';
"""

# In the order in which rows need each other; the tenant is there from the first migration.
_WORLD: tuple[tuple[str, Row], ...] = (
    ("principal", {"name": "'producer'", "kind": "'service'"}),
    ("principal", {"name": "'ann'"}),
    ("principal", {"name": "'bo'"}),
    ("role_grant", {"role": "'reviewer'"}),
    ("role_grant", {"principal_id": "3", "role": "'lead'"}),
    ("api_key", {"id": "'aaaabbbbdddd'"}),
    ("policy_version", {"version": "'p-1'", "document": "'one'", "sha256": "sha256('one')"}),
    ("policy_active", {}),
    ("queue", {"name": "'escalation'"}),
    ("queue", {"name": "'posts'", "escalation_queue": "'escalation'"}),
    ("category", {"name": "'hate'"}),
    ("reason", {"code": "'fine'"}),
    *(("content", {"content_id": f"'c-{n}'"}) for n in (1, 2, 3, 4)),
    *(
        ("payload", {"content_id": str(n), "revision": "1", "body": f'\'{{"text": "{n}"}}\''})
        for n in (1, 2, 3, 4)
    ),
    ("score", {"content_id": "1"}),
    *(
        (
            "evidence",
            {
                "content_id": str(n),
                "revision": "1",
                "hash": f"sha256('{n}.1')",
                "bytes": f"'{n}.1'",
            },
        )
        for n in (1, 2, 3, 4)
    ),
    ("blob", {"sha256": "sha256('x')", "bytes": "'x'"}),
    ("attachment", {"content_id": "1"}),
    ("intake", {"content_id": "2"}),
    *(("item", {"content_id": str(n)}) for n in (1, 2, 3)),
    ("lease_log", {"item_id": "1", "happening": "'grant'", "token": ANN_TOKEN}),
    ("exclusion", {"item_id": "1"}),
    ("note", {"item_id": "1"}),
    ("question", {"item_id": "1", "content_id": "1"}),
    ("decision", {**AUTOMATIC, "content_id": "1"}),
    (
        "decision",
        {
            "content_id": "1",
            "item_id": "1",
            "supersedes": "1",
            "evidence_hash": "sha256('1.1')",
            "lease_token": ANN_TOKEN,
        },
    ),
    ("decision", {**AUTOMATIC, "content_id": "2"}),
    ("verdict_reply", {"decision_id": "2"}),
    ("event", {"content_id": "1"}),
    ("pending_apply", {"decision_id": "2", "content_id": "1"}),
    ("applied", {"decision_id": "1"}),
    ("outbox", {"kind": "'webhook'", "key": "'1:webhook'"}),
    (
        "outbox",
        {
            "decision_id": "NULL",
            "question_id": "1",
            "kind": "'question'",
            "key": "'question:1'",
        },
    ),
    ("appeal", {"author_id": "'author'", "decision_id": "1", "original_actor": "'model'"}),
    (
        "appeal",
        {
            "content_id": "2",
            "author_id": "'author'",
            "decision_id": "3",
            "original_actor": "'model'",
        },
    ),
    ("statement", {"appeal_id": "1"}),
)

# Ann holds item 1; items 2 and 3 wait.
_LEASE = (
    "UPDATE item SET state = 'leased', owner = 2, fence_token = gen_random_uuid(),"
    " lease_epoch = 1, lease_count = 1, leased_at = clock(),"
    " lease_expires = clock() + interval '3 minutes' WHERE id = 1"
)


async def make_world(runtime: asyncpg.Connection[Any]) -> None:
    """Fill a fresh database, all of it as the runtime role."""
    async with runtime.transaction():
        for table, overrides in _WORLD:
            await runtime.execute(insertion(table, overrides))
        await runtime.execute(_LEASE)

"""A desk to test the queue at: a policy in force, people with keys, items, and a clock to turn."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import asyncpg

from backend.db.connection import Database
from backend.domain.identity import Grant, Identity
from backend.domain.policy import Policy
from backend.services.apply import apply_due
from backend.services.claim import claim
from backend.services.policies import activate
from backend.services.verdict import VerdictReply, verdict
from shared.evidence import Evidence, ShownContent, evidence_bytes, evidence_hash
from shared.vocabulary import Role, Verdict
from shared.wire.queue import Lease, VerdictRequest

QUEUE = "posts"
CLOCK = """
CREATE TABLE IF NOT EXISTS test_clock (shift interval NOT NULL);
INSERT INTO test_clock VALUES ('0');
GRANT SELECT ON test_clock TO fencepost_runtime;
CREATE OR REPLACE FUNCTION clock() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS 'SELECT clock_timestamp() + (SELECT shift FROM fencepost.test_clock)';
"""


def new_key() -> str:
    """Return a fresh retry key."""
    return str(uuid.uuid4())


class Desk:
    """What most tests of the queue begin with."""

    def __init__(self, db: Database, admin: asyncpg.Connection[Any], policy: Policy) -> None:
        self.db = db
        self.admin = admin
        self.policy = policy

    async def person(self, name: str, *roles: Role, queue: str | None = None) -> Identity:
        """Make a person who may review everywhere, unless told otherwise."""
        granted = roles or (Role.REVIEWER,)
        principal = await self.admin.fetchval(
            "INSERT INTO principal (tenant_id, name, kind) VALUES (1, $1, 'person') RETURNING id",
            name,
        )
        await self.admin.executemany(
            "INSERT INTO role_grant (principal_id, role, queue) VALUES ($1, $2, $3)",
            [(principal, role, queue) for role in granted],
        )
        return Identity(
            principal_id=principal,
            tenant_id=1,
            name=name,
            key_id="k" * 12,
            grants=tuple(Grant(role=role, queue=queue) for role in granted),
        )

    async def item(
        self,
        content_id: str = "c-1",
        *,
        rank: float = 100.0,
        queue: str = QUEUE,
        text: str = "hello",
        submitted_by: int | None = None,
    ) -> int:
        """Queue one item with the least that it needs, and return its key."""
        by = submitted_by or await self.admin.fetchval(
            "INSERT INTO principal (tenant_id, name, kind) VALUES (1, 'producer', 'service')"
            " ON CONFLICT (tenant_id, name) DO UPDATE SET active = true RETURNING id"
        )
        content = await self.admin.fetchval(
            "INSERT INTO content (tenant_id, content_id, kind, submitted_by)"
            " VALUES (1, $1, 'post', $2) RETURNING id",
            content_id,
            by,
        )
        shown = evidence_bytes(
            Evidence(
                nonce=uuid.uuid4().hex,
                revision=1,
                content=ShownContent(content_id=content_id, kind="post", text=text),
                policy_version=self.policy.version,
            )
        )
        await self.admin.execute(
            "INSERT INTO evidence (content_id, revision, hash, bytes, policy_version)"
            " VALUES ($1, 1, $2, $3, $4)",
            content,
            bytes.fromhex(evidence_hash(shown)),
            shown,
            self.policy.version,
        )
        key: int = await self.admin.fetchval(
            "INSERT INTO item (tenant_id, content_id, queue, round, source, severity, base, rank,"
            " evidence_revision, first_enqueued_at, enqueued_at)"
            " VALUES (1, $1, $2, 1, 'engine', 60, $3, $3, 1, clock(), clock()) RETURNING id",
            content,
            queue,
            rank,
        )
        return key

    async def lease(self, who: Identity, queue: str = QUEUE) -> Lease:
        """Claim the next item, which must be there."""
        answer = await claim(self.db, self.policy, who, queue, new_key())
        assert answer.lease is not None, answer.figures
        return answer.lease

    def saying(
        self, lease: Lease, said: Verdict = Verdict.APPROVE, **changed: Any
    ) -> VerdictRequest:
        """Return a verdict on a lease; `changed` replaces fields."""
        fields: dict[str, Any] = {
            "lease_token": lease.lease_token,
            "verdict_token": new_key(),
            "evidence_hash": lease.evidence_hash,
            "verdict": said,
        }
        if "reason" not in changed:
            fields["reason"] = self.reason(said, lease.queue)
        return VerdictRequest(**{**fields, **changed})

    def reason(self, said: Verdict, queue: str = QUEUE) -> str:
        """Return a reason that the policy admits for this verdict."""
        return self.policy.admitted(queue, said)[0].code

    async def decide(
        self, who: Identity, lease: Lease, said: Verdict = Verdict.APPROVE, **changed: Any
    ) -> VerdictReply:
        """Give a verdict on a lease."""
        return await verdict(
            self.db, self.policy, who, lease.item_id, self.saying(lease, said, **changed)
        )

    async def pass_time(self, span: timedelta) -> None:
        """Turn the database's clock on."""
        await self.admin.execute("UPDATE test_clock SET shift = shift + $1", span)

    async def apply_all(self) -> int:
        """Let the undo windows pass and apply what is due."""
        await self.pass_time(timedelta(minutes=1))
        done = 0
        while applied := await apply_due(self.db):
            done += applied
        return done

    async def value(self, query: str, *args: Any) -> Any:
        """Look into the database."""
        return await self.admin.fetchval(query, *args)


async def set_up_desk(db: Database, admin: asyncpg.Connection[Any], text: str) -> Desk:
    """Put a policy in force and take the clock into the test's own hands."""
    await admin.execute("SET ROLE fencepost_owner")
    await admin.execute(CLOCK)
    await admin.execute("RESET ROLE")
    policy = await activate(db, 1, text)
    return Desk(db, admin, policy)

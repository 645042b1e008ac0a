"""What tests of the gateway begin with: a policy in force, a producer, rows to submit."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.db.connection import Database
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.submission import CheckedContent, check_case, check_submission
from backend.services import keys
from backend.services.keys import Keyring
from backend.services.policies import activate, shipped_policy
from shared.vocabulary import KeyEnv, Role
from shared.wire.content import Case, Submission

SAFE = {
    "child_safety": 0.01,
    "terror": 0.01,
    "violence": 0.01,
    "hate": 0.01,
    "harassment": 0.01,
    "sexual": 0.01,
    "offensive": 0.01,
    "spam": 0.01,
}
"""Scores for every category of the standard policy, all of them safe."""


async def standard(db: Database) -> Policy:
    """Put the standard policy in force."""
    return await activate(db, 1, shipped_policy())


async def key_for(
    db: Database, role: Role = Role.PRODUCER, queue: str | None = None, name: str | None = None
) -> str:
    """Make a key of the test kind."""
    kind = "service" if role is Role.PRODUCER else "person"
    return await keys.create(db, name or f"{role}-1", kind, role, queue, KeyEnv.TEST)


async def somebody(
    db: Database, role: Role = Role.PRODUCER, queue: str | None = None, name: str | None = None
) -> Identity:
    """Make a principal with a key and return who he is."""
    return await identified(db, await key_for(db, role, queue, name))


async def identified(db: Database, key: str) -> Identity:
    """Return who a key belongs to, once its use has been noted."""
    keyring = Keyring(db, KeyEnv.TEST)
    try:
        return await keyring.identify(key)
    finally:
        await keyring.close()


def body(content_id: str, /, labels: dict[str, float] | None = None, **fields: Any) -> bytes:
    """Return a submission as JSON: safe scores unless `labels` replaces some."""
    scores = SAFE | (labels or {})
    return msgspec.json.encode({"content_id": content_id, "labels": scores, **fields})


def row(
    content_id: str, /, labels: dict[str, float] | None = None, **fields: Any
) -> CheckedContent:
    """Return a checked submission."""
    return checked(body(content_id, labels, **fields))


def checked(data: bytes) -> CheckedContent:
    """Return raw JSON as a checked submission."""
    return check_submission(msgspec.json.decode(data, type=Submission))


def case(content_id: str, queue: str = "cases", **fields: Any) -> CheckedContent:
    """Return a checked case."""
    data = msgspec.json.encode({"content_id": content_id, **fields})
    return check_case(msgspec.json.decode(data, type=Case), queue)

"""What people wrote stands in the few tables that can forget it, and in no log.

One way through the whole house, with a canary in every field that may hold something personal;
then every column of every table is searched, as text and as the bytes behind it.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import msgspec
import pytest
import structlog

from backend.api.logs import configure_logging
from backend.db.connection import Database
from backend.services.apply import apply_due
from backend.services.redrive import redrive
from shared.vocabulary import Role
from shared.wire.queue import ClaimAnswer, Lease
from tests.support.api import NDJSON, Api, api_of
from tests.support.gateway import body, standard
from tests.support.postgres import Cluster

TEXT, FIELD, AUTHOR, NOTE = "canary-text", "canary-field", "canary-author", "canary-note"
STAY = {
    TEXT: {"payload.body", "evidence.bytes"},
    FIELD: {"payload.body", "evidence.bytes"},
    AUTHOR: {"payload.body", "evidence.bytes", "content.author_id"},
    NOTE: {"note.text"},
}
each_needle = pytest.mark.parametrize("needle", STAY)
PERSONAL = {"text": TEXT, "fields": {"name": FIELD}, "author_id": AUTHOR}


class Walk:
    """One way through, and all that was logged on it."""

    def __init__(self, admin: asyncpg.Connection[Any]) -> None:
        self.admin = admin
        self.logged = ""
        self.statuses: list[int] = []

    async def columns_with(self, needle: str) -> set[str]:
        """Return the columns in which a text stands, plainly or in hexadecimal."""
        tables = await self.admin.fetch(
            "SELECT relname FROM pg_class"
            " WHERE relnamespace = 'fencepost'::regnamespace AND relkind = 'r'"
        )
        found = set()
        for (table,) in tables:
            rows = await self.admin.fetch(
                "SELECT DISTINCT cell.key AS key"
                f" FROM {table} AS t, jsonb_each_text(to_jsonb(t)) AS cell"
                " WHERE position($1 IN cell.value) > 0 OR position($2 IN cell.value) > 0",
                needle,
                needle.encode().hex(),
            )
            found |= {f"{table}.{row['key']}" for row in rows}
        return found


@pytest.fixture(scope="module")
async def walk(cluster: Cluster) -> AsyncIterator[Walk]:
    """Walk once; the tests below only look."""
    dsn = await cluster.clone()
    admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
    done = Walk(admin)
    with listening() as heard:
        async with Database(dsn.runtime, durable=False) as database:
            await standard(database)
            async with api_of(database) as api:
                await go(done, api, database, admin)
    server_log = (cluster.server.folder / "postgres.log").read_text(errors="replace")
    done.logged = "\n".join(heard) + server_log
    yield done
    await admin.close()
    await cluster.drop(dsn)


async def go(done: Walk, api: Api, database: Database, admin: asyncpg.Connection[Any]) -> None:
    """Submit, be refused, submit again, claim, decide in every way, apply, escalate, read."""

    async def post(path: str, sent: bytes, role: Role = Role.PRODUCER, **more: Any) -> Any:
        response = await api.post(path, sent, role=role, **more)
        done.statuses.append(response.status_code)
        return response

    for name, scores in {"safe": {}, "worst": {"hate": 0.99}, "held": None}.items():
        labels = {} if scores is None else msgspec.json.decode(body("x", scores))["labels"]
        await post("/v1/content", submission(f"c-{name}", labels=labels))
    for name in ("approved", "escalated", "released"):
        labels = msgspec.json.decode(body("x", {"hate": 0.5}))["labels"]
        await post("/v1/content", submission(f"c-{name}", labels=labels))
    await post("/v1/content", submission("c-safe", text=f"{TEXT} once more"))
    await post("/v1/content", submission("c-bad", kind=f"{TEXT}!"))
    await post("/v1/content", b'{"content_id": "c-torn", "text": "' + TEXT.encode())
    lines = [submission("c-batch"), submission("c-line", author_id=AUTHOR + "\u202e")]
    await post("/v1/content:batch", b"\n".join(lines), headers=NDJSON)
    case = {"content_id": "k-1", "kind": "kyc", **PERSONAL}
    await post("/v1/queues/cases/items", msgspec.json.encode(case))
    await decide(api, post)
    await admin.execute("UPDATE pending_apply SET next_try_at = clock()")
    await apply_due(database)
    await redrive(database)
    for name in ("c-approved", "c-held", "k-1"):
        done.statuses.append((await api.get(f"/v1/content/{name}/decision")).status_code)
    # A row that the database itself refuses: its own words must not repeat it.
    with pytest.raises(asyncpg.CheckViolationError):
        await admin.execute("UPDATE content SET author_id = repeat($1, 20)", AUTHOR)


def submission(content_id: str, **changed: Any) -> bytes:
    return msgspec.json.encode({"content_id": content_id, "kind": "post", **PERSONAL, **changed})


async def decide(api: Api, post: Any) -> None:
    """Give verdicts with a note: good, replayed, in conflict, by another, on other evidence."""
    lease = await claimed(api)
    sent = verdict(lease)
    path = f"/v1/items/{lease.item_id}/verdict"
    await post(path, verdict(lease, evidence_hash="0" * 64), Role.REVIEWER)
    await post(path, sent, Role.LEAD)
    await post(path, sent, Role.REVIEWER)
    await post(path, sent, Role.REVIEWER)
    await post(path, sent.replace(NOTE.encode(), b"another " + NOTE.encode()), Role.REVIEWER)
    lease = await claimed(api)
    up = {"verdict": "escalate", "reason": "policy_gap"}
    await post(f"/v1/items/{lease.item_id}/verdict", verdict(lease, **up), Role.REVIEWER)
    lease = await claimed(api)
    back = {"lease_token": lease.lease_token, "reason": "policy_unclear"}
    path = f"/v1/items/{lease.item_id}/release"
    await post(path, msgspec.json.encode(back), Role.REVIEWER)
    await post(f"/v1/items/{lease.item_id}/verdict", verdict(lease), Role.REVIEWER)


async def claimed(api: Api) -> Lease:
    sent = msgspec.json.encode({"claim_key": str(uuid.uuid4())})
    response = await api.post("/v1/queues/posts/claim", sent, role=Role.REVIEWER)
    lease = msgspec.json.decode(response.content, type=ClaimAnswer).lease
    assert lease is not None, response.text
    return lease


def verdict(lease: Lease, **changed: Any) -> bytes:
    said = {
        "lease_token": lease.lease_token,
        "verdict_token": str(uuid.uuid4()),
        "evidence_hash": lease.evidence_hash,
        "verdict": "approve",
        "reason": "no_violation",
        "note": NOTE,
    }
    return msgspec.json.encode({**said, **changed})


class listening:  # noqa: N801 - reads as a word where it is used
    """Keep what is logged meanwhile, at every level, by us and by the libraries."""

    def __enter__(self) -> list[str]:
        self.heard: list[str] = []
        self._before = structlog.get_config()
        configure_logging()
        structlog.configure(
            processors=[*structlog.get_config()["processors"][:-1], self._keep],
            wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
            cache_logger_on_first_use=False,
        )
        self._handler = logging.Handler(logging.DEBUG)
        self._handler.emit = lambda record: self.heard.append(  # type: ignore[method-assign]
            f"{record.name} {record.getMessage()} {record.exc_info}"
        )
        self._level = logging.getLogger().level
        logging.getLogger().addHandler(self._handler)
        logging.getLogger().setLevel(logging.DEBUG)
        return self.heard

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self._handler)
        logging.getLogger().setLevel(self._level)
        structlog.configure(**self._before)

    def _keep(self, _: object, __: str, event: Any) -> str:
        self.heard.append(str(event))
        raise structlog.DropEvent


async def test_the_walk_went_every_way(walk: Walk) -> None:
    assert {200, 400, 403, 409, 422} <= set(walk.statuses)
    counts = {
        table: await walk.admin.fetchval(f"SELECT count(*) FROM {table}")
        for table in ("content", "payload", "item", "decision", "applied", "outbox", "note")
    }
    assert 0 not in counts.values(), counts
    kinds = await walk.admin.fetch("SELECT DISTINCT type FROM event")
    assert {"content.resubmitted", "decision.applied", "verdict.refused"} <= {k[0] for k in kinds}


@each_needle
async def test_personal_text_stands_only_where_it_can_be_erased(walk: Walk, needle: str) -> None:
    assert await walk.columns_with(needle) == STAY[needle]


@each_needle
async def test_no_bare_hash_of_personal_text_is_kept(walk: Walk, needle: str) -> None:
    for hashed in (hashlib.sha256, hashlib.sha1, hashlib.md5):
        assert await walk.columns_with(hashed(needle.encode()).hexdigest()) == set()


@each_needle
async def test_personal_text_is_in_no_log(walk: Walk, needle: str) -> None:
    assert walk.logged.count("request") > 20
    assert "content_author_id_check" in walk.logged, "the server's own log is among them"
    assert needle not in walk.logged

"""`pgbench` with the product's own statements: what ours is measured by, on the same server."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from backend.db.embedded import Server

_STATEMENT = re.compile(r"^-- name: (\w+)\(.*\)[\^$!]?\n(?:--.*\n)*((?:.*\n)+?.*;)$", re.MULTILINE)
_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
_SLICE = re.compile(r"^progress: ([0-9.]+) s, ([0-9.]+) tps", re.MULTILINE)

_CLAIM_KEY = "'00000000-0000-4000-8000-000000000001'"
# The event of a verdict, as long as ours, hashed by the server instead of the client.
_CANONICAL = "convert_to(repeat('x', 420), 'UTF8')"
_EVENT = {
    ":seq": ":seq::bigint + 1",
    ":type": "'decision.recorded'",
    ":prev_hash": ":chain_head::bytea",
    ":canonical": _CANONICAL,
    ":hash": f"sha256('\\x00'::bytea || :chain_head::bytea || {_CANONICAL})",
}


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Where the cycles run: the policy's names as they are in that database.

    Client n of pgbench is the person `first_person` + n.
    """

    queue: str
    reason: str
    policy_version: str
    first_person: int


def named(noun: str) -> Mapping[str, str]:
    """Return the statements of a query file as they stand there, without their last semicolon."""
    text = files("sql").joinpath("queries").joinpath(f"{noun}.sql").read_text()
    return {name: body.removesuffix(";") for name, body in _STATEMENT.findall(text)}


def cycle_script(work: Work) -> str:
    """Return one claim and its verdict, statement by statement what the services send."""
    claim, verdict = named("claim"), named("verdict")
    # The retry key of the verdict is the client's own: here the claim makes it up.
    claimed = claim["claim_next"].replace(
        "SELECT c.id AS item_pk,", "SELECT gen_random_uuid() AS verdict_token, c.id AS item_pk,"
    )
    # Constants, since the claim's own columns of these names would overwrite variables.
    claimed = claimed.replace(":claim_key", _CLAIM_KEY).replace(":terminal", "'pgbench'")
    assert "verdict_token" in claimed, "the claim's last part reads differently now"
    decided = (
        verdict["decide_item"]
        .replace(":evidence_hash", "decode(:evidence_hash, 'hex')")
        .replace(":supersedes", "nullif(:head_decision::text, '')::bigint")
        .replace(":note::text", "NULL::text")  # most verdicts have none
    )
    recorded = verdict["record_verdict"].replace(":fingerprint", "sha256('f')")
    for name, value in _EVENT.items():
        assert name in recorded, f"nothing is recorded as {name} now"
        recorded = recorded.replace(name, value)
    return "\n".join(
        [
            f"\\set principal_id {work.first_person} + :client_id",
            f"{claimed} \\gset",
            "\\set item_id :item_pk",
            "BEGIN;",
            f"{verdict['lock_for_verdict']} \\gset",
            f"{_pk(decided)} \\gset",
            "\\set decision_id :decision_pk",
            f"{_pk(recorded)};",
            "COMMIT;",
            "",
        ]
    )


def _pk(statement: str) -> str:
    """In these two the parameter is a content's key; the row before has a column of that name."""
    return statement.replace(":content_id", ":content_pk::bigint")


def defined(work: Work) -> list[str]:
    """Return the parameters that are the same in every cycle."""
    same = {
        "tenant_id": 1,
        "queue": work.queue,
        "kind": "verdict",
        "actor": "reviewer",
        "verdict": "approve",
        "outcome": "allow",
        "reason": work.reason,
        "apply_after": "2100-01-01T00:00:00Z",
        "late_by": "0",
        "seen": 100,
        "dwell": "1 second",
        "renderer": "pgbench",
        "policy_version": work.policy_version,
        "model_version": "m",
        "answer": "x" * 320,
    }
    return [part for name, value in same.items() for part in ("-D", f"{name}={value}")]


class Ran(msgspec.Struct, frozen=True):
    """What a run came to: transactions a second in all, and in each slice as (second, rate)."""

    rate: float
    slices: tuple[tuple[float, float], ...]


async def run(
    server: Server,
    url: str,
    script: str,
    defines: Sequence[str],
    *,
    clients: int,
    seconds: int = 0,
    transactions: int = 0,
    every: int = 0,
) -> Ran:
    """Run a script for some seconds, or so many times a client.

    Raises RuntimeError with pgbench's words if it fails.
    """
    length = ("-T", str(seconds)) if seconds else ("-t", str(transactions))
    parts = urlsplit(url)
    place = parse_qs(parts.query)
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        await asyncio.to_thread(_write, file.name, script)
        command = [
            server.binaries.program("pgbench"),
            *("-h", unquote(place["host"][0]), "-p", place["port"][0], "-U", parts.username or ""),
            *("-n", "-M", "prepared", "-c", str(clients), "-j", "2", *length),
            *(("-P", str(every)) if every else ()),
            *defines,
            *("-f", file.name, parts.path.lstrip("/")),
        ]
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        said, complained = (part.decode() for part in await process.communicate())
    found = _TPS.search(said)
    if process.returncode or found is None:
        raise RuntimeError(f"pgbench: {complained[-2000:]}{said[-500:]}")
    slices = tuple((float(at), float(rate)) for at, rate in _SLICE.findall(complained))
    return Ran(float(found[1]), slices)


def _write(name: str, script: str) -> None:
    Path(name).write_text(script)

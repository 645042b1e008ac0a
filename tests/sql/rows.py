"""One good row for each table.

Values are SQL expressions. The columns of a good row are exactly those that the runtime role may
insert, so that one table serves two purposes: what a row needs, and what a role may say.
"""

from __future__ import annotations

from collections.abc import Mapping

Row = Mapping[str, str]

ANN_TOKEN = "'00000000-0000-4000-8000-00000000000a'"
GENESIS = "decode(repeat('00', 32), 'hex')"

# The engine's decisions, in place of a person's.
AUTOMATIC: Row = {
    "item_id": "NULL",
    "kind": "'automatic'",
    "actor": "'model'",
    "principal_id": "NULL",
    "verdict": "NULL",
    "reason": "NULL",
    "band": "'ALLOW'",
    "explanation": "'{}'",
    "evidence_hash": "NULL",
    "lease_token": "NULL",
    "verdict_token": "NULL",
}

GOOD: Mapping[str, Row] = {
    "migration": {"version": "9999", "name": "'9999_x.sql'", "sha256": "sha256('x')"},
    "tenant": {"name": "'other'"},
    "principal": {"tenant_id": "1", "name": "'cy'", "kind": "'person'"},
    "role_grant": {"principal_id": "2", "role": "'auditor'", "queue": "NULL"},
    "api_key": {
        "id": "'aaaabbbbcccc'",
        "principal_id": "2",
        "env": "'test'",
        "secret_sha256": "sha256('secret')",
        "expires_at": "NULL",
    },
    "policy_version": {
        "tenant_id": "1",
        "version": "'p-2'",
        "document": "'two'",
        "sha256": "sha256('two')",
        "created_by": "NULL",
    },
    "policy_active": {"tenant_id": "1", "version": "'p-1'", "activated_by": "NULL"},
    "queue": {
        "tenant_id": "1",
        "name": "'cases'",
        "title": "'Cases'",
        "severity": "50",
        "lease_ttl": "'3 minutes'",
        "max_hold": "'1 hour'",
        "abandon_threshold": "3",
        "escalation_queue": "NULL",
        "escalation_boost": "10",
        "undo_window": "'10 seconds'",
        "release_cooldown": "'10 minutes'",
        "sla": "'5 minutes'",
        "disabled_at": "NULL",
        "draining": "false",
        "successor": "NULL",
    },
    "category": {"tenant_id": "1", "name": "'spam'"},
    "reason": {"tenant_id": "1", "code": "'satire'", "title": "'Satire'"},
    "content": {
        "tenant_id": "1",
        "content_id": "'c-new'",
        "kind": "'post'",
        "lang": "'en'",
        "author_id": "'author'",
        "author_followers": "5",
        "policy_version": "'p-1'",
        "model_version": "'m-1'",
        "risk_score": "0.5",
        "submitted_by": "1",
        "created_at": "now()",
    },
    "payload": {
        "content_id": "3",
        "revision": "2",
        "body": "'{}'",
        "nonce": "'n'",
        "fingerprint": "'f'",
    },
    "score": {
        "content_id": "3",
        "scorer": "'producer'",
        "model_version": "'m-1'",
        "labels": "'{}'",
        "mode": "'acting'",
    },
    "evidence": {
        "content_id": "3",
        "revision": "2",
        "hash": "sha256('3.2')",
        "bytes": "'3.2'",
        "policy_version": "'p-1'",
    },
    "intake": {"content_id": "3"},
    "item": {
        "tenant_id": "1",
        "content_id": "4",
        "queue": "'posts'",
        "round": "1",
        "source": "'engine'",
        "severity": "60",
        "base": "600",
        "rank": "600",
        "left_by": "'{}'",
        "first_enqueued_at": "now()",
        "enqueued_at": "now()",
        "evidence_revision": "1",
        "escalated_at": "NULL",
        "terminal": "NULL",
        "sla_from": "now()",
    },
    "lease_log": {
        "item_id": "3",
        "lease_epoch": "1",
        "happening": "'renew'",
        "principal_id": "2",
        "token": "NULL",
        "expires_at": "now()",
        "reason": "NULL",
        "by_principal": "NULL",
    },
    "exclusion": {
        "item_id": "3",
        "content_id": "NULL",
        "principal_id": "3",
        "until": "now()",
        "why": "'released'",
    },
    "question": {
        "item_id": "3",
        "content_id": "3",
        "principal_id": "2",
        "reason": "'await_producer'",
        "text": "'asked'",
        "wake_at": "now()",
    },
    "blob": {
        "tenant_id": "1",
        "sha256": "sha256('y')",
        "media_type": "'text/plain'",
        "size": "1",
        "bytes": "'y'",
        "created_by": "1",
    },
    "attachment": {
        "content_id": "3",
        "revision": "1",
        "place": "1",
        "tenant_id": "1",
        "sha256": "sha256('x')",
    },
    "note": {"item_id": "3", "principal_id": "2", "text": "'said'"},
    "decision": {
        "tenant_id": "1",
        "content_id": "3",
        "item_id": "3",
        "kind": "'verdict'",
        "actor": "'reviewer'",
        "principal_id": "2",
        "verdict": "'approve'",
        "outcome": "'allow'",
        "outcome_value": "NULL",
        "reason": "'fine'",
        "band": "NULL",
        "explanation": "NULL",
        "risk_score": "NULL",
        "evidence_hash": "sha256('3.1')",
        "lease_token": "gen_random_uuid()",
        "verdict_token": "gen_random_uuid()",
        "supersedes": "NULL",
        "apply_after": "now()",
        "hold": "NULL",
        "late_by": "'0 seconds'",
        "seen": "100",
        "dwell": "'9 seconds'",
        "renderer": "'tui/1'",
        "policy_version": "'p-1'",
        "model_version": "'m-1'",
    },
    "verdict_reply": {
        "principal_id": "2",
        "verdict_token": "gen_random_uuid()",
        "fingerprint": "sha256('f')",
        "decision_id": "3",
        "answer": "'{}'",
    },
    "event": {
        "content_id": "3",
        "seq": "1",
        "type": "'content.submitted'",
        "prev_hash": GENESIS,
        "canonical": "'e'",
        "hash": f"sha256('\\x00'::bytea || {GENESIS} || 'e')",
    },
    "pending_apply": {"decision_id": "3", "content_id": "2", "next_try_at": "now()"},
    "applied": {"decision_id": "2", "result": "'applied'"},
    "outbox": {
        "decision_id": "1",
        "question_id": "NULL",
        "content_id": "1",
        "kind": "'label'",
        "key": "'1:label'",
        "payload": "'{}'",
    },
    "appeal": {
        "tenant_id": "1",
        "content_id": "1",
        "author_id": "'another'",
        "decision_id": "2",
        "original_actor": "'reviewer'",
    },
    "statement": {"appeal_id": "2", "text": "'said'"},
}


def insertion(table: str, overrides: Row | None = None) -> str:
    """Return the INSERT of the table's good row, with some values replaced."""
    row = {**GOOD[table], **(overrides or {})}
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(row.values())})"

"""Every CHECK, unique key and trigger of the tables that tell a decision's whole story, and of what
surrounds it: with the least that breaks it.
"""

from __future__ import annotations

from tests.sql.rows import ANN_TOKEN, AUTOMATIC, Row, insertion

LEASED: Row = {
    "state": "'leased'",
    "owner": "2",
    "fence_token": "gen_random_uuid()",
    "leased_at": "now()",
    "lease_expires": "now()",
}
RESOLVED: Row = {"state": "'resolved'", "resolution": "'decided'", "resolved_at": "now()"}
LONG_HASH = "sha256('x') || 'x'::bytea"

# constraint -> the values that break it, in the table's good row.
CHECKS: dict[str, Row] = {
    "item_round_check": {"round": "0"},
    "item_source_check": {"source": "'rumour'"},
    "item_severity_check": {"severity": "1001"},
    "item_base_check": {"base": "'NaN'"},
    "item_rank_check": {"rank": "'Infinity'"},
    "item_state_check": {"state": "'lost'"},
    "item_resolution_check": {**RESOLVED, "resolution": "'forgotten'"},
    "item_lease_count_check": {"lease_count": "-1"},
    "leased_is_whole": {**LEASED, "leased_at": "NULL"},
    "only_leased_expires": {"lease_expires": "now()"},
    "token_has_owner": {"owner": "2"},
    "at_rest_has_no_token": {
        "state": "'parked'",
        "owner": "2",
        "fence_token": "gen_random_uuid()",
        "parked_at": "now()",
        "wake_at": "now()",
    },
    "resolved_says_how": {"state": "'resolved'"},
    "parked_is_whole": {"state": "'parked'", "parked_at": "now()"},
    "open_has_sla": {"sla_from": "NULL"},
    "item_terminal_check": {**LEASED, "terminal": "'-'"},
    "only_owned_has_terminal": {"terminal": "'desk-1'"},
    "decision_kind_check": {"kind": "'whim'", "verdict": "NULL"},
    "decision_actor_check": {"actor": "'chance'"},
    "decision_verdict_check": {"verdict": "'shrug'"},
    "decision_outcome_check": {"outcome": "'vanish'"},
    "decision_band_check": {**AUTOMATIC, "band": "'MAYBE'"},
    "decision_risk_score_check": {"risk_score": "'NaN'"},
    "decision_evidence_hash_check": {"evidence_hash": LONG_HASH},
    "decision_hold_check": {"hold": "'whim'"},
    "decision_late_by_check": {"late_by": "'-1 second'"},
    "decision_seen_check": {"seen": "101"},
    "decision_dwell_check": {"dwell": "'-1 second'"},
    "decision_renderer_check": {"renderer": "repeat('x', 65)"},
    "decision_check": {"supersedes": "1000000"},
    "engine_has_no_principal": {**AUTOMATIC, "principal_id": "2"},
    "engine_is_automatic": {**AUTOMATIC, "kind": "'undo'"},
    "engine_explains": {**AUTOMATIC, "explanation": "NULL"},
    "person_says_verdict": {"verdict": "NULL"},
    "verdict_is_bound": {"evidence_hash": "NULL"},
    "value_is_named": {"outcome": "'value'"},
    "event_seq_check": {"seq": "0"},
    "event_type_check": {"type": "'gossip'"},
    "event_prev_hash_check": {
        "seq": "2",
        "prev_hash": LONG_HASH,
        "hash": f"sha256('\\x00'::bytea || {LONG_HASH} || 'e')",
    },
    "hash_is_true": {"hash": "sha256('e')"},
    "first_follows_nothing": {
        "prev_hash": "sha256('x')",
        "hash": "sha256('\\x00'::bytea || sha256('x') || 'e')",
    },
    "content_content_id_check": {"content_id": "'-c'"},
    "content_lang_check": {"lang": "''"},
    "content_author_id_check": {"author_id": "repeat('x', 129)"},
    "content_author_followers_check": {"author_followers": "-1"},
    "content_state_check": {"state": "'gone'"},
    "content_actor_check": {"actor": "'chance'", "applied_decision": "1"},
    "content_risk_score_check": {"risk_score": "'NaN'"},
    "content_seq_check": {"seq": "-1"},
    "content_chain_head_check": {"chain_head": LONG_HASH},
    "content_revision_check": {"revision": "0"},
    "content_model_version_check": {"model_version": "''"},
    "content_check": {"actor": "'model'"},
    "evidence_revision_check": {"revision": "0"},
    "evidence_hash_check": {"hash": LONG_HASH, "bytes": "NULL", "erased_at": "now()"},
    "evidence_check": {"bytes": "'something else'"},
    "evidence_check1": {"bytes": "NULL"},
    "payload_revision_check": {"revision": "0"},
    "payload_check": {"nonce": "NULL"},
    "lease_log_happening_check": {"happening": "'theft'"},
    "lease_log_check": {"happening": "'grant'"},
    "lease_log_reason_check": {"reason": "'boredom'"},
    "only_waking_is_nobodys": {"principal_id": "NULL"},
    "exclusion_why_check": {"why": "'grudge'"},
    "exclusion_check": {"content_id": "1"},
    "question_reason_check": {"reason": "'whim'"},
    "question_text_check": {"text": "''"},
    "question_check": {"erased_at": "now()"},
    "blob_sha256_check": {"sha256": LONG_HASH, "bytes": "NULL", "erased_at": "now()"},
    "blob_media_type_check": {"media_type": "'text/html'"},
    "blob_size_check": {"size": "0", "bytes": "NULL", "erased_at": "now()"},
    "digest_is_true": {"sha256": "sha256('z')"},
    "blob_is_there_or_erased": {"bytes": "NULL"},
    "attachment_place_check": {"place": "21"},
    "queue_severity_check": {"severity": "1001"},
    "queue_lease_ttl_check": {"lease_ttl": "'0 seconds'"},
    "queue_check": {"max_hold": "'1 minute'"},
    "queue_abandon_threshold_check": {"abandon_threshold": "0"},
    "queue_check1": {"escalation_queue": "'cases'"},
    "queue_escalation_boost_check": {"escalation_boost": "-1"},
    "queue_undo_window_check": {"undo_window": "'2 days'"},
    "queue_release_cooldown_check": {"release_cooldown": "'2 days'"},
    "queue_sla_check": {"sla": "'0 seconds'"},
    "succeeds_another": {"successor": "'cases'", "disabled_at": "now()"},
    "only_closed_has_successor": {"successor": "'posts'"},
    "outbox_last_error_check": {"last_error": "repeat('x', 501)"},
    "tells_one_thing": {"decision_id": "NULL"},
}

# unique index -> the values that break it, beside the rows of the world.
UNIQUE: dict[str, Row] = {
    "item_content_id_round_key": {"content_id": "3", **RESOLVED},
    "item_one_open": {"content_id": "3", "round": "2"},
    "decision_lease_token_key": {"lease_token": ANN_TOKEN},
    "decision_principal_id_verdict_token_key": {"verdict_token": ANN_TOKEN},
    "decision_supersedes_key": {
        "content_id": "1",
        "evidence_hash": "sha256('1.1')",
        "supersedes": "1",
    },
    "decision_root": {**AUTOMATIC, "content_id": "1"},
    "event_pkey": {"content_id": "1"},
    "content_tenant_id_content_id_key": {"content_id": "'c-1'"},
    "evidence_pkey": {"revision": "1"},
    "evidence_content_id_hash_key": {"hash": "sha256('3.1')", "bytes": "'3.1'"},
    "payload_pkey": {"revision": "1"},
    "lease_log_token": {"happening": "'grant'", "token": ANN_TOKEN},
    "outbox_question": {
        "decision_id": "NULL",
        "question_id": "1",
    },
    "blob_pkey": {"sha256": "sha256('x')", "bytes": "'x'"},
    "attachment_pkey": {"content_id": "1", "sha256": "sha256('y')"},
    "attachment_content_id_revision_sha256_key": {"content_id": "1", "place": "2"},
    "queue_pkey": {"name": "'posts'"},
    "outbox_key_key": {"key": "'1:webhook'"},
}
# Ids alone or with what they imply: only their counter can break them, and nobody may say them.
COUNTED = {
    "content_id_tenant_id_key",
    "content_pkey",
    "decision_id_content_id_key",
    "decision_pkey",
    "exclusion_pkey",
    "item_pkey",
    "lease_log_pkey",
    "outbox_pkey",
    "question_pkey",
}
# Rows that stand in the way of the entries of UNIQUE, where the world has none.
IN_THE_WAY = {
    "decision_principal_id_verdict_token_key": insertion(
        "decision",
        {
            "content_id": "2",
            "item_id": "2",
            "evidence_hash": "sha256('2.1')",
            "supersedes": "3",
            "verdict_token": ANN_TOKEN,
        },
    ),
}

END = "state = 'resolved', resolution = 'decided', resolved_at = now()"
PARK = (
    "state = 'parked', owner = NULL, fence_token = NULL, lease_expires = NULL,"
    " parked_at = now(), wake_at = now()"
)
LEASE = ", ".join(f"{column} = {value}" for column, value in LEASED.items())

# trigger -> (what brings the row about, what the trigger refuses).
TRIGGERS: dict[str, tuple[str, str]] = {
    "item.resolved_is_final": (
        f"UPDATE item SET {END} WHERE id = 2",
        "UPDATE item SET state = 'queued', resolution = NULL, resolved_at = NULL WHERE id = 2",
    ),
    "item.only_leased_parks": (
        "SELECT 1",
        "UPDATE item SET state = 'parked', parked_at = now(), wake_at = now() WHERE id = 2",
    ),
    "item.parked_returns_first": (
        f"UPDATE item SET {PARK} WHERE id = 1",
        f"UPDATE item SET {LEASE}, lease_epoch = 9, parked_at = NULL, wake_at = NULL WHERE id = 1",
    ),
    "item.epoch_only_grows": ("SELECT 1", "UPDATE item SET lease_epoch = 0 WHERE id = 1"),
    "item.token_brings_epoch": (
        "SELECT 1",
        "UPDATE item SET fence_token = gen_random_uuid() WHERE id = 1",
    ),
    "content.pending_is_first": (
        "UPDATE content SET state = 'allowed' WHERE id = 4",
        "UPDATE content SET state = 'pending' WHERE id = 4",
    ),
    "content.seq_only_grows": (
        "UPDATE content SET seq = 2 WHERE id = 4",
        "UPDATE content SET seq = 1 WHERE id = 4",
    ),
    "decision.precedence": (
        "SELECT 1",
        insertion("decision", {**AUTOMATIC, "content_id": "1", "supersedes": "2"}),
    ),
    "event.chain_is_whole": (
        "SELECT 1",
        insertion(
            "event",
            {
                "content_id": "1",
                "seq": "2",
                "prev_hash": "sha256('x')",
                "hash": "sha256('\\x00'::bytea || sha256('x') || 'e')",
            },
        ),
    ),
}

"""Who may do what to which table: the exact answer of the server to each attempt.

`ok`: it may. 42501: no right. 23001: append-only, whoever asks. 23503: others depend on the row.
`some`: the columns of `UPDATABLE`, and 42501 for each other one.
"""

from __future__ import annotations

VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE")

ACCESS = {
    "owner": """
        migration       ok     ok     ok     ok     ok
        tenant          ok     ok     ok     23503  23001
        principal       ok     ok     ok     23503  23001
        role_grant      ok     ok     ok     ok     ok
        api_key         ok     ok     ok     ok     ok
        policy_version  ok     ok     23001  23001  23001
        policy_active   ok     ok     23001  23001  23001
        queue           ok     ok     ok     23503  23001
        category        ok     ok     ok     ok     ok
        reason          ok     ok     ok     23503  23001
        content         ok     ok     ok     23503  23001
        payload         ok     ok     ok     23503  23001
        score           ok     ok     23001  23001  23001
        evidence        ok     ok     ok     23503  23001
        intake          ok     ok     ok     ok     ok
        item            ok     ok     ok     23503  23001
        lease_log       ok     ok     23001  23001  23001
        exclusion       ok     ok     ok     ok     ok
        note            ok     ok     ok     ok     ok
        question        ok     ok     ok     23503  ok
        blob            ok     ok     ok     23503  23001
        attachment      ok     ok     23001  23001  23001
        decision        ok     ok     23001  23001  23001
        verdict_reply   ok     ok     23001  23001  23001
        event           ok     ok     23001  23001  23001
        pending_apply   ok     ok     ok     ok     ok
        applied         ok     ok     23001  23001  23001
        outbox          ok     ok     ok     ok     ok
        appeal          ok     ok     ok     23503  ok
        statement       ok     ok     ok     ok     ok
    """,
    "runtime": """
        migration       ok     42501  42501  42501  42501
        tenant          ok     42501  42501  42501  42501
        principal       ok     ok     some   42501  42501
        role_grant      ok     ok     42501  ok     42501
        api_key         ok     ok     some   42501  42501
        policy_version  ok     ok     42501  42501  42501
        policy_active   ok     ok     42501  42501  42501
        queue           ok     ok     ok     42501  42501
        category        ok     ok     42501  42501  42501
        reason          ok     ok     some   42501  42501
        content         ok     ok     some   42501  42501
        payload         ok     ok     42501  42501  42501
        score           ok     ok     42501  42501  42501
        evidence        ok     ok     42501  42501  42501
        intake          ok     ok     some   ok     42501
        item            ok     ok     some   42501  42501
        lease_log       ok     ok     42501  42501  42501
        exclusion       ok     ok     42501  42501  42501
        note            ok     ok     42501  42501  42501
        question        ok     ok     42501  42501  42501
        blob            ok     ok     42501  42501  42501
        attachment      ok     ok     42501  42501  42501
        decision        ok     ok     42501  42501  42501
        verdict_reply   ok     ok     42501  42501  42501
        event           ok     ok     42501  42501  42501
        pending_apply   ok     ok     some   ok     42501
        applied         ok     ok     42501  42501  42501
        outbox          ok     ok     some   42501  42501
        appeal          ok     ok     some   42501  42501
        statement       ok     ok     42501  42501  42501
    """,
    # It sets aside that its transactions are read-only: what holds it are the grants.
    "reader": """
        migration       ok     42501  42501  42501  42501
        tenant          ok     42501  42501  42501  42501
        principal       ok     42501  42501  42501  42501
        role_grant      ok     42501  42501  42501  42501
        api_key         42501  42501  42501  42501  42501
        policy_version  ok     42501  42501  42501  42501
        policy_active   ok     42501  42501  42501  42501
        queue           ok     42501  42501  42501  42501
        category        ok     42501  42501  42501  42501
        reason          ok     42501  42501  42501  42501
        content         ok     42501  42501  42501  42501
        payload         ok     42501  42501  42501  42501
        score           ok     42501  42501  42501  42501
        evidence        ok     42501  42501  42501  42501
        intake          ok     42501  42501  42501  42501
        item            ok     42501  42501  42501  42501
        lease_log       ok     42501  42501  42501  42501
        exclusion       ok     42501  42501  42501  42501
        note            42501  42501  42501  42501  42501
        question        42501  42501  42501  42501  42501
        blob            42501  42501  42501  42501  42501
        attachment      ok     42501  42501  42501  42501
        decision        ok     42501  42501  42501  42501
        verdict_reply   ok     42501  42501  42501  42501
        event           ok     42501  42501  42501  42501
        pending_apply   ok     42501  42501  42501  42501
        applied         ok     42501  42501  42501  42501
        outbox          ok     42501  42501  42501  42501
        appeal          ok     42501  42501  42501  42501
        statement       42501  42501  42501  42501  42501
    """,
}

UPDATABLE = {
    "principal": "active",
    "api_key": "last_used_at revoked_at",
    "reason": "title",
    "content": """state actor risk_score head_decision applied_decision seq chain_head revision
        policy_version model_version decided_at updated_at withdrawn_at""",
    "intake": "attempts last_error next_try_at",
    "item": """queue base rank severity state resolution owner fence_token claim_key leased_at
        lease_expires lease_epoch lease_count left_by abandoned escalated_at stuck_at enqueued_at
        wake_at evidence_revision resolved_at terminal sla_from parked_at moved_at""",
    "pending_apply": "next_try_at attempts last_error dead_at",
    "outbox": "next_try_at attempts last_error delivered_at dead_at",
    "appeal": "state resolved_at",
}


def expected() -> dict[tuple[str, str, str], str]:
    """Return (role, table, verb) -> answer."""
    answers = {}
    for role, lines in ACCESS.items():
        for line in lines.strip().splitlines():
            table, *codes = line.split()
            for verb, code in zip(VERBS, codes, strict=True):
                answers[role, table, verb] = code
    return answers


def tables(verb: str, answer: str, role: str = "owner") -> list[str]:
    """Return the tables of which a verb gets this answer."""
    return [
        table
        for (who, table, what), code in expected().items()
        if (who, what, code) == (role, verb, answer)
    ]

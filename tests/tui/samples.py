"""Items to look at: evidence and leases as the server would build them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.evidence import (
    Evidence,
    ShownContent,
    ShownLabel,
    ShownRuleHit,
    evidence_bytes,
    evidence_hash,
)
from shared.reasons import Reason
from shared.vocabulary import Band, ItemSource, Verdict
from shared.wire.queue import Lease

POST = (
    "They moved in on Tuesday and nobody on this street asked for it. If the council won't act, "
    "some of us are going to go round there on Friday night with cans and a lighter and make sure "
    "they understand.\n\nBring friends. Meet behind the petrol station at ten. Do not post this "
    "anywhere else, they read everything.\n\n(reply to @riverside_watch) same as last year, nobody "
    "did anything then either"
)
HOSTILE = (
    "You people are [bold red]vermin[/] and I will [link=file:///etc/passwd]find[/link] you.\n"
    "\x1b[2J\x1b[31mALL CLEAR - APPROVED BY POLICY BOT\x1b[0m \x07\x9b31m\n"
    "Invoice total: \u202e00.001$\u202c  pay\u200bpal.com vs p\u0430ypal.com\n"
    "Z"
    + "\u0301"
    * 13
    + "algo  \U0001f468\u200d\U0001f469\u200d\U0001f467  \u5bb6\u65cf  \U000e0041\U000e0042\n"
    "[@click=app.sign_off]read more[/]  \x1b]0;pwned\x07\x1b]52;c;aGk=\x07\n\n" + POST
)
SCORES = {
    "violence": "0.81", "hate": "0.64", "child_safety": "0.01", "harassment": "0.47",
    "terror": "0.18", "offensive": "0.04", "sexual": "0.02", "spam": "0.01",
}  # fmt: skip
SEVERITY = {
    "child_safety": 100, "terror": 90, "violence": 60, "hate": 60, "harassment": 40, "sexual": 30,
    "offensive": 20, "spam": 5,
}  # fmt: skip
BOTH = (Verdict.APPROVE, Verdict.LIMIT, Verdict.REJECT, Verdict.ESCALATE)
_A, _L, _R, _E = BOTH
REASONS = tuple(
    Reason(code=code, title=title, verdicts=verdicts, category=category)
    for code, title, verdicts, category in (
        ("no_violation", "No violation", (_A,), None),
        ("satire", "Satire or quotation", (_A,), None),
        ("violence_threat", "Threat of physical violence", (_R, _L), "violence"),
        ("violence_incite", "Incitement or call to action", (_R, _L), "violence"),
        ("hate_attack", "Attack on a protected group", (_R, _L), "hate"),
        ("harassment", "Targeted harassment", (_R,), "harassment"),
        ("terror_support", "Support for a listed organisation", (_R,), "terror"),
        ("sexual_explicit", "Sexually explicit", (_R,), "sexual"),
        ("spam", "Commercial spam", (_R,), "spam"),
        ("phishing", "Phishing or credential theft", (_R,), None),
        ("private_information", "Private information", (_R,), None),
        ("impersonation", "Impersonation", (_R,), None),
        ("unclear", "The policy does not say", (_E,), None),
        ("imminent", "Danger right now", (_E,), None),
    )
)
KYC: dict[str, Any] = {
    "applicant": {"name": "Ana Sample", "born": "1990-04-12", "country": "PT"},
    "document": {"kind": "passport", "number": "P0000000", "pages": ["front", "back"]},
    "checks": {"face_match": "0.71", "mrz_valid": True, "sanctions_hit": None},
    "amount_cents": 125000,
    "comment": "The photo is blurred at the lower edge.\nAsked once for a better one.",
}  # fmt: skip


def label(category: str, score: str | None, *, low: str = "0.20", high: str = "0.95") -> ShownLabel:
    """Return one label, banded as the engine would."""
    closed = category in ("child_safety", "terror")
    if score is None:
        band = Band.HELD if closed else Band.ALLOW
    elif float(score) > float(high):
        band = Band.BLOCK
    else:
        band = Band.ALLOW if float(score) < float(low) else Band.REVIEW
    return ShownLabel(
        category=category, score=score, low=low, high=high, band=band,
        severity=SEVERITY.get(category, 10), fail_closed=closed,
    )  # fmt: skip


def evidence(
    text: str | None = POST,
    *,
    content_id: str = "p-8f31c2",
    scores: Mapping[str, str | None] | None = None,
    hits: tuple[ShownRuleHit, ...] = (),
    deciding: str | None = "violence",
    **content: Any,
) -> Evidence:
    """Return evidence of a post with plain defaults."""
    # A rule that fires counts as a score of 1, so only a high of 1 sends its category to people.
    ruled = {fired.category for fired in hits}
    labels = tuple(
        label(name, score, high="1" if name in ruled else "0.95")
        for name, score in (SCORES if scores is None else scores).items()
    )
    shown = {"kind": "post", "lang": "en", "author_id": "firestarter88", **content}
    return Evidence(
        nonce="00" * 16, revision=1,
        content=ShownContent(content_id=content_id, text=text, **shown),
        labels=labels, rules=hits, deciding=deciding if labels else None,
        policy_version="standard-1", model_version="guard-7b@1.4.1" if labels else None,
    )  # fmt: skip


def hit(
    text: str, quoted: str, rule: str = "arson-lexicon", category: str = "violence"
) -> ShownRuleHit:
    """Return a rule hit that points at `quoted` in `text`."""
    start = text.index(quoted)
    return ShownRuleHit(rule=rule, category=category, start=start, end=start + len(quoted))


def kyc() -> Evidence:
    """Return a case for people, without scores."""
    return evidence(
        None, content_id="kyc-2041", scores={}, kind="kyc", lang=None, fields=KYC, author_id="ana.s"
    )


def lease(shown: Evidence, *, number: int = 1, **changes: Any) -> Lease:
    """Return a lease on `shown`."""
    data = evidence_bytes(shown)
    plain: dict[str, Any] = {
        "item_id": f"{1000 + number}", "content_id": shown.content.content_id, "queue": "posts",
        "round": 1, "source": ItemSource.ENGINE,
        "lease_token": f"00000000-0000-4000-8000-{number:012d}",
        "expires_in_ms": 180_000, "ttl_ms": 180_000, "lease_count": 2, "left_by": 1,
        "abandon_threshold": 3, "rank": 614.1, "base": 606.1 if shown.labels else 506.1,
        "severity": 60 if shown.labels else 50,
        "author_followers": 1_200_000, "waited_ms": 192_000, "sla_age_ms": 192_000,
        "sla_ms": 300_000,
        "evidence": data.decode(), "evidence_hash": evidence_hash(data), "verdicts": BOTH,
    }  # fmt: skip
    return Lease(**{**plain, **changes})

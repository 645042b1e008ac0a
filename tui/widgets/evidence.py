"""Why the item is here: labels against bands, rules, rank, versions, lease."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from shared.evidence import ShownRuleHit
from shared.vocabulary import ItemSource
from shared.wire.queue import Lease
from tui.document import short_hash
from tui.safe_text import safe_text
from tui.state.countdown import clock_words
from tui.state.held import Held
from tui.widgets.bands import ROLES, band_row, score_words, strictest_first
from tui.widgets.paint import Content, fit, glue, marked, rule, words
from tui.widgets.pane import Pane
from tui.wrap import wrap

Rows = Iterator[Content]
_QUOTE = 200
_ROUNDING = 0.05  # what is added is told to one decimal
_MILLION, _THOUSAND = 1_000_000, 1000


class EvidencePane(Pane):
    """Rows about one held item, from whichever of the sections below it is given."""

    def __init__(self, *, name: str, title: str) -> None:
        super().__init__(name=name)
        self._title = title
        self._held: Held | None = None
        self._contents: list[Content] = []
        self.sections: tuple[Callable[[Held, int], Rows], ...] = ()
        self.compact = False

    def load(self, held: Held | None) -> None:
        """Show the evidence of `held`, or nothing."""
        self._held = held
        deciding = held.evidence.deciding if held is not None else None
        title = f"{self._title}: {deciding}" if deciding and self.id == "evidence" else self._title
        self.caption(words(title))
        self.scroll_to(y=0, animate=False)
        self.lay_out()

    def build(self, width: int) -> int:
        """Write the rows for `width` cells."""
        rows: list[Content] = []
        if self._held is not None:
            for section in self.sections:
                part = list(section(self._held, width))
                if rows and part and not self.compact:
                    rows.append(words(""))
                rows.extend(part)
        self._contents = rows
        return len(rows)

    def row(self, place: int) -> Content:
        """Return one row."""
        return self._contents[place]


def labels(held: Held, width: int) -> Rows:
    """Show each category against its band, or say that there are no scores."""
    evidence = held.evidence
    if not evidence.labels:
        yield from _wrapped(
            "A case for people: it has no scores. Its facts are in the item.", width
        )
        return
    flagged = {hit.category for hit in evidence.rules}
    for label in strictest_first(evidence.labels):
        yield band_row(label, label.category in flagged, width)


def legend(held: Held, width: int) -> Rows:
    """Explain the signs of the bars."""
    if held.evidence.labels:
        yield fit(words("┆ low  ┃ high  ⚑ rule hit  ◌ held", "$muted"), width)


def explanation(held: Held, width: int) -> Rows:
    """Say in one sentence what decided."""
    evidence = held.evidence
    label = next((each for each in evidence.labels if each.category == evidence.deciding), None)
    if label is None:
        return
    hit = next((each for each in evidence.rules if each.category == label.category), None)
    if hit is not None:
        why = f"rule {hit.rule} fired, which counts as a score of 1"
    elif label.score is None:
        why = "no score, and it fails closed"
    else:
        why = f"{score_words(label.score)} against low {label.low} and high {label.high}"
    text = f"{label.category}: {why} → {label.band}"
    yield from _wrapped(text, width, ROLES[label.band])


def rules(held: Held, width: int) -> Rows:
    """List the rules that fired, each with what it points at."""
    if not held.evidence.rules:
        return
    yield rule("Rules", width)
    text = held.evidence.content.text or ""
    for hit in held.evidence.rules:
        name = glue(
            words("⚑ ", "bold $reject"), words(hit.rule, "bold"), words(f" {hit.category}  ")
        )
        yield fit(glue(name, _quote(hit, text)), width)


def _quote(hit: ShownRuleHit, text: str) -> Content:
    if hit.start is None or hit.end is None:
        return words("")
    quoted = safe_text(text[hit.start : min(hit.end, hit.start + _QUOTE)], lines=False)
    shown = marked(quoted, 0, len(quoted.plain), style="$muted")
    return glue(words("«", "$muted"), shown, words("»", "$muted"))


def author(held: Held, width: int) -> Rows:
    """Say who wrote it, and how its place in the queue comes about."""
    lease, content = held.lease, held.evidence.content
    yield rule("Author and rank", width)
    who = content.author_id or "no author given"
    known = content.author_id or lease.author_followers
    followers = f"  {_short(lease.author_followers)} followers" if known else ""
    yield fit(glue(words(who, "bold"), words(followers, "$review")), width)
    yield from _wrapped(rank_words(lease), width, "$muted")


def rank_words(lease: Lease) -> str:
    """Return the arithmetic of the priority: severity, exposure, waiting, and what was added."""
    weights = lease.weights
    severity = lease.severity * weights.severity
    exposure = weights.exposure * math.log10(1 + max(lease.author_followers, 0))
    waited = weights.age_per_minute * lease.waited_ms / 60_000
    added = lease.base - severity - exposure
    boost = f" + {added:.1f} escalation" if added > _ROUNDING else ""
    return (
        f"priority {lease.base + waited:.1f} = {lease.severity}×{weights.severity:g} severity"
        f" + {exposure:.1f} followers + {waited:.1f} waiting{boost}"
    )


def sent_by(held: Held, width: int) -> Rows:
    """Name the policy and the model that sent it here, and the hash that a verdict is bound to."""
    evidence = held.evidence
    yield rule("Sent here by", width)
    policy = glue(words("policy ", "$muted"), words(evidence.policy_version, "bold"))
    named = [policy]
    if evidence.model_version:
        named.append(glue(words("model ", "$muted"), words(evidence.model_version, "bold")))
    both = glue(named[0], *(part for each in named[1:] for part in (words("  "), each)))
    for row in (both,) if both.cell_length <= width else named:
        yield fit(row, width)
    yield fit(
        glue(
            words("evidence ", "$muted"), words(short_hash(held.lease.evidence_hash), "bold"),
            words(f"  revision {evidence.revision}", "$muted"),
        ),
        width,
    )  # fmt: skip


def attachments(held: Held, width: int) -> Rows:
    """List the attachments by the ends of their digests."""
    digests = held.evidence.attachments
    if not digests:
        return
    yield rule(f"Attachments: {len(digests)}", width)
    for row in range(0, len(digests), 2):
        shown = (words(f"{short_hash(digest)}  ", "bold") for digest in digests[row : row + 2])
        yield fit(glue(*shown, words("f saves", "$muted") if row == 0 else words("")), width)


def lease_rows(held: Held, width: int) -> Rows:
    """Say which lease this is, and how near the item is to escalation."""
    lease = held.lease
    yield rule("Lease", width)
    left = f"left undecided by {lease.left_by} of {lease.abandon_threshold}"
    yield from _wrapped(f"lease {lease.lease_count} of this item · {left}", width)
    used, sla = lease.sla_age_ms / 1000, lease.sla_ms / 1000
    over = used > sla > 0
    text = f"waited {clock_words(used)} of {clock_words(sla)}" + (" ✕ OVER SLA" if over else "")
    yield from _wrapped(text, width, "$reject" if over else "$muted")
    if lease.source is not ItemSource.ENGINE:
        yield from _wrapped(f"here by: {lease.source}, round {lease.round}", width, "$muted")


ALL = (labels, legend, explanation, rules, attachments, author, sent_by, lease_rows)
COMPACT = (explanation, labels, rules, attachments, author, sent_by, lease_rows, legend)
WHY = (labels, legend, explanation, rules, attachments)
CONTEXT = (author, sent_by, lease_rows)


def _short(number: int) -> str:
    if number >= _MILLION:
        return f"{number / _MILLION:.1f}M"
    return f"{number / _THOUSAND:.1f}k" if number >= _THOUSAND else str(number)


def _wrapped(text: str, width: int, style: str = "") -> Rows:
    safe = safe_text(text, lines=False)
    for start, end in wrap(safe.plain, width):
        yield marked(safe, start, end, style=style)

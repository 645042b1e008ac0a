"""What must hold between the parts of a policy; each check yields the faults it finds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from math import isfinite

from backend.domain.plan import Category
from backend.domain.policy_model import Fault, Policy, Queue
from backend.domain.scores import MAX_PLACES, ONE, ZERO, is_name
from shared.ids import NAME_PATTERN
from shared.vocabulary import Verdict

MAX_SEVERITY = 1_000
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}\Z")
_DAY_MS = 86_400_000
_LONGEST_MS = 366 * _DAY_MS
_MAX_TITLE = 80
_MAX_WEIGHT = 1_000_000

# What a span may be, in milliseconds: at least, at most.
_SPANS = {
    "sla_ms": (1, _LONGEST_MS),
    "lease_ttl_ms": (1, _DAY_MS),
    "max_hold_ms": (1, 7 * _DAY_MS),
    "late_cap_ms": (0, 7 * _DAY_MS),
    "undo_window_ms": (0, _DAY_MS),
    "release_cooldown_ms": (0, _DAY_MS),
    "max_park_ms": (1, _LONGEST_MS),
}


def check_policy(policy: Policy) -> tuple[Fault, ...]:
    """Return all that is wrong between the parts of `policy`; empty means that it may be used."""
    return tuple(fault for check in _CHECKS for fault in check(policy))


def _head(policy: Policy) -> Iterator[Fault]:
    if _VERSION.match(policy.version) is None:
        yield Fault("version", "1 to 32 of A-Z a-z 0-9 . _ -, a letter or digit first")
    if policy.default_queue not in policy.queues:
        yield Fault("routes.default", _no_queue(policy, policy.default_queue))
    if not policy.categories:
        yield Fault("categories", "at least one is needed")


def _names(policy: Policy) -> Iterator[Fault]:
    owned: dict[str, Iterable[str]] = {
        "categories": policy.categories,
        "scorers": policy.scorers,
        "queues": policy.queues,
        "reasons": [reason.code for reason in policy.reasons],
    }
    for section, names in owned.items():
        for name in names:
            if not is_name(name):
                yield Fault(f"{section}.{name}", f"a name matches {NAME_PATTERN}")


def _categories(policy: Policy) -> Iterator[Fault]:
    for name, category in policy.categories.items():
        path = f"categories.{name}"
        yield from _bands(path, category)
        yield from _between(f"{path}.severity", category.severity, 0, MAX_SEVERITY)


def _bands(path: str, category: Category) -> Iterator[Fault]:
    sound = True
    for end, value in (("low", category.low), ("high", category.high)):
        if not value.is_finite() or not ZERO <= value <= ONE:
            sound = False
            yield Fault(f"{path}.{end}", "a number in [0, 1]")
        elif len(str(value)) > MAX_PLACES or value.adjusted() < -MAX_PLACES:
            sound = False
            yield Fault(f"{path}.{end}", f"at most {MAX_PLACES} decimal places")
    if sound and category.low > category.high:
        yield Fault(f"{path}.low", "lies above high")


def _scorers(policy: Policy) -> Iterator[Fault]:
    covered: set[str] = set()
    for name, scorer in policy.scorers.items():
        path = f"scorers.{name}.categories"
        covered.update(scorer.categories)
        yield from _known(path, scorer.categories, policy.categories, "category")
        yield from _once(path, scorer.categories)
    for name, category in policy.categories.items():
        if category.fail_closed and name not in covered:
            yield Fault(
                f"categories.{name}.fail_closed", "no scorer covers it: everything would be held"
            )


def _queues(policy: Policy) -> Iterator[Fault]:
    for name, queue in policy.queues.items():
        path = f"queues.{name}"
        yield from _title(path, queue.title)
        yield from _spans(path, queue)
        yield from _between(f"{path}.severity", queue.severity, 0, MAX_SEVERITY)
        yield from _between(f"{path}.abandon_threshold", queue.abandon_threshold, 1, 100)
        yield from _between(f"{path}.escalation_boost", queue.escalation_boost, 0, 10_000)
        yield from _once(f"{path}.kinds", queue.kinds)
        yield from _verdicts(policy, name, queue)
        if not queue.claimable_by:
            yield Fault(f"{path}.claimable_by", "at least one role is needed")
        for kind in queue.kinds:
            if not is_name(kind):
                yield Fault(f"{path}.kinds", f"{kind!r} is no name ({NAME_PATTERN})")
            elif policy.routes[kind] != name:
                yield Fault(f"{path}.kinds", f"{kind} is sent to {policy.routes[kind]} as well")


def _spans(path: str, queue: Queue) -> Iterator[Fault]:
    for field, (least, most) in _SPANS.items():
        yield from _between(f"{path}.{field}", getattr(queue, field), least, most)
    if queue.max_hold_ms < queue.lease_ttl_ms:
        yield Fault(f"{path}.max_hold_ms", "lies below lease_ttl_ms")


def _verdicts(policy: Policy, name: str, queue: Queue) -> Iterator[Fault]:
    path = f"queues.{name}.verdicts"
    yield from _once(path, queue.verdicts)
    if not queue.verdicts:
        yield Fault(path, "at least one is needed")
    for verdict in queue.verdicts:
        if not policy.admitted(name, verdict):
            yield Fault(path, f"{verdict} has no reason in this queue")
    if Verdict.ESCALATE in queue.verdicts and queue.escalation_queue is None:
        yield Fault(path, "escalate needs an escalation_queue")


def _escalation(policy: Policy) -> Iterator[Fault]:
    for name, queue in policy.queues.items():
        path = f"queues.{name}.escalation_queue"
        target = queue.escalation_queue
        if target is not None and target not in policy.queues:
            yield Fault(path, _no_queue(policy, target))
        elif target is not None and _returns(policy, name):
            yield Fault(path, "leads in a circle")


def _no_queue(policy: Policy, named: str) -> str:
    heir = policy.former.get(named)
    if heir in policy.queues:
        return f"names no queue: write {heir}, which takes its place"
    return f"names no queue; there are {', '.join(policy.queues) or 'none'}"


def _returns(policy: Policy, start: str) -> bool:
    """Tell whether escalating from `start` comes to a queue for the second time."""
    seen = {start}
    queue = policy.queues[start]
    while queue.escalation_queue in policy.queues:
        if queue.escalation_queue in seen:
            return True
        seen.add(queue.escalation_queue)
        queue = policy.queues[queue.escalation_queue]
    return False


def _draining(policy: Policy) -> Iterator[Fault]:
    """Refuse that something is sent to a queue that takes nothing new in."""
    for name, queue in policy.queues.items():
        if not queue.draining:
            continue
        path = f"queues.{name}.draining"
        if policy.default_queue == name:
            yield Fault(path, "it is routes.default: name another queue there first")
        if queue.kinds:
            kinds = ", ".join(queue.kinds)
            yield Fault(
                path,
                f"it has kinds: give another queue {kinds}, or leave them out and"
                " they go to routes.default",
            )
        for above, other in policy.queues.items():
            if other.escalation_queue == name:
                yield Fault(path, f"{above} escalates here: give that another escalation_queue")


def _former(policy: Policy) -> Iterator[Fault]:
    taken: dict[str, str] = {}
    for name, queue in policy.queues.items():
        path = f"queues.{name}.formerly"
        yield from _once(path, queue.formerly)
        for old in dict.fromkeys(queue.formerly):
            if not is_name(old):
                yield Fault(path, f"{old!r} is no name ({NAME_PATTERN})")
            elif old in policy.queues:
                yield Fault(path, f"{old} is a queue of this policy: leave out one of the two")
            elif old in taken:
                yield Fault(path, f"{old} is in formerly of {taken[old]} too: only one can follow")
            taken.setdefault(old, name)


def _reasons(policy: Policy) -> Iterator[Fault]:
    for reason in policy.reasons:
        path = f"reasons.{reason.code}"
        yield from _title(path, reason.title)
        yield from _once(f"{path}.verdicts", reason.verdicts)
        yield from _once(f"{path}.queues", reason.queues)
        yield from _known(f"{path}.queues", reason.queues, policy.queues, "queue")
        if not reason.verdicts:
            yield Fault(f"{path}.verdicts", "at least one is needed")
        if reason.category is not None:
            yield from _known(f"{path}.category", [reason.category], policy.categories, "category")


def _rank(policy: Policy) -> Iterator[Fault]:
    weights = policy.weights
    for field in ("severity", "exposure", "age_per_minute"):
        value = getattr(weights, field)
        if not isfinite(value) or not 0 <= value <= _MAX_WEIGHT:
            yield Fault(f"rank.{field}", "a number in [0, 1000000]")
    if weights.age_per_minute == 0:
        yield Fault("rank.age_per_minute", "must be above 0, or an item could wait for ever")


def _between(path: str, value: int, least: int, most: int) -> Iterator[Fault]:
    if not least <= value <= most:
        yield Fault(path, f"a whole number in [{least}, {most}]")


def _title(path: str, title: str) -> Iterator[Fault]:
    if not 1 <= len(title) <= _MAX_TITLE or not title.isprintable():
        yield Fault(f"{path}.title", f"1 to {_MAX_TITLE} printable characters")


def _once(path: str, values: Iterable[str]) -> Iterator[Fault]:
    for value, times in Counter(values).items():
        if times > 1:
            yield Fault(path, f"{value} stands there twice")


def _known(path: str, values: Iterable[str], known: Iterable[str], what: str) -> Iterator[Fault]:
    for value in values:
        if value not in set(known):
            yield Fault(path, f"{value} is no {what} of this policy")


_CHECKS = (
    _head,
    _names,
    _categories,
    _scorers,
    _queues,
    _draining,
    _former,
    _escalation,
    _reasons,
    _rank,
)

"""Queues that drain, are renamed or merged: what a policy may say of them, and who answers."""

from __future__ import annotations

import msgspec
import pytest

from backend.domain.policy import Policy, PolicyError, parse_policy
from tests.support.renaming import STANDARD, deleted, drained, merged, renamed

CASES = '[queues.cases]\ntitle = "Cases"\nkinds = ["kyc", "payout", "llm_answer", "case"]\n'


def with_cases(more: str) -> str:
    assert CASES in STANDARD
    return STANDARD.replace(CASES, CASES + more)


def faults_of(text: str) -> list[str]:
    with pytest.raises(PolicyError) as refused:
        parse_policy(text)
    return [str(fault) for fault in refused.value.faults]


def test_the_terms_of_a_queue_that_says_nothing_of_itself() -> None:
    queue = parse_policy(STANDARD).queues["posts"]
    assert (queue.draining, queue.formerly, queue.reopen_on_evidence) == (False, (), True)
    assert queue.max_park_ms == 30 * 86_400_000


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ("max_park_ms = 0\n", "queues.cases.max_park_ms: a whole number in [1, 31622400000]"),
        ("max_park_ms = 31622400001\n", "queues.cases.max_park_ms: a whole number in"),
        ("draining = true\n", "queues.cases.draining: it has kinds: give another queue kyc, "),
        ("draining = 1\n", "queues.cases.draining: Expected `bool`"),
        ('formerly = ["Old One"]\n', "queues.cases.formerly: 'Old One' is no name"),
        ('formerly = ["posts"]\n', "queues.cases.formerly: posts is a queue of this policy: leave"),
        ('formerly = ["cases"]\n', "queues.cases.formerly: cases is a queue of this policy: leave"),
        ('formerly = ["old", "old"]\n', "queues.cases.formerly: old stands there twice"),
    ],
)
def test_what_a_queue_may_not_say(more: str, fault: str) -> None:
    assert any(told.startswith(fault) for told in faults_of(with_cases(more)))


def test_a_former_name_has_one_heir() -> None:
    text = with_cases('formerly = ["old"]\n').replace(
        'title = "Posts"', 'title = "Posts"\nformerly = ["old"]'
    )
    assert faults_of(text) == [
        "queues.cases.formerly: old is in formerly of posts too: only one can follow"
    ]


def test_nothing_is_sent_to_a_queue_that_drains() -> None:
    text = STANDARD.replace('title = "Posts"', 'title = "Posts"\ndraining = true')
    left_out = (
        "give another queue post, comment, profile, or leave them out and they go to routes.default"
    )
    assert faults_of(text) == [
        "queues.posts.draining: it is routes.default: name another queue there first",
        f"queues.posts.draining: it has kinds: {left_out}",
    ]
    text = STANDARD.replace('title = "Escalations"', 'title = "Escalations"\ndraining = true')
    assert faults_of(text) == [
        "queues.escalation.draining: posts escalates here: give that another escalation_queue",
        "queues.escalation.draining: cases escalates here: give that another escalation_queue",
    ]
    assert parse_policy(drained(STANDARD, "cases", "v-2")).queues["cases"].draining


def test_a_queue_that_is_not_there_is_told_with_those_that_are() -> None:
    text = STANDARD.replace('default = "posts"', 'default = "nowhere"')
    assert "routes.default: names no queue; there are posts, cases, escalation" in faults_of(text)
    text = STANDARD.replace('escalation_queue = "escalation"', 'escalation_queue = "up"', 1)
    fault = "queues.posts.escalation_queue: names no queue; there are posts, cases, escalation"
    assert fault in faults_of(text)


def test_an_old_name_leads_to_what_took_its_place() -> None:
    policy = parse_policy(renamed(STANDARD, "posts", "feed", "v-2"))
    assert (policy.queue_named("posts"), policy.queue_named("feed")) == ("feed", "feed")
    assert policy.queue_named("nowhere") is None
    assert policy.default_queue == "feed"
    policy = parse_policy(merged(STANDARD, "cases", "posts", "v-3"))
    assert policy.queue_named("cases") == "posts"
    assert parse_policy(deleted(STANDARD, "cases", "v-4")).queue_named("cases") is None


def renamed_alone(name: str, new: str) -> str:
    """Rename a queue in its own section, and nowhere else."""
    return STANDARD.replace(f"[queues.{name}]", f'[queues.{new}]\nformerly = ["{name}"]')


def test_reasons_may_go_on_saying_a_former_name() -> None:
    policy = parse_policy(renamed_alone("cases", "files"))
    whole = parse_policy(renamed(STANDARD, "cases", "files", policy.version))
    assert policy.reasons == whole.reasons
    assert policy.reasons_for("files") == whole.reasons_for("files") != ()
    both = 'formerly = ["cases", "folders"]'
    text = renamed_alone("cases", "files").replace('formerly = ["cases"]', both)
    said = 'queues = ["posts", "cases"]'
    assert said in text
    for more in ('"posts", "cases", "files"', '"posts", "cases", "folders"'):
        merged_names = parse_policy(text.replace(said, f"queues = [{more}]"))
        assert merged_names.reasons == whole.reasons
    twice = text.replace(said, 'queues = ["posts", "cases", "cases"]', 1)
    assert [fault.partition(": ")[2] for fault in faults_of(twice)] == ["files stands there twice"]


def test_elsewhere_a_former_name_is_told_once_with_what_to_write() -> None:
    assert faults_of(renamed_alone("posts", "feed")) == [
        "routes.default: names no queue: write feed, which takes its place"
    ]
    told = "escalation_queue: names no queue: write up, which takes its place"
    assert faults_of(renamed_alone("escalation", "up")) == [
        f"queues.posts.{told}",
        f"queues.cases.{told}",
    ]


def later(policy: Policy, **followed: str) -> Policy:
    return msgspec.structs.replace(policy, followed=followed)


def test_names_of_earlier_versions_lead_there_too() -> None:
    policy = parse_policy(renamed(STANDARD, "posts", "feed", "v-2"))
    assert later(policy, wall="posts").queue_named("wall") == "feed"
    assert later(policy, wall="cases", posts="cases").queue_named("wall") == "cases"
    assert later(policy, posts="cases").queue_named("posts") == "feed"  # this version's word first
    assert later(policy, cases="feed").queue_named("cases") == "cases"  # it is a queue again
    assert later(policy, wall="gone").queue_named("wall") is None
    assert later(policy, a="b", b="a").queue_named("a") is None

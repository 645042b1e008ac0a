"""What a policy text must hold, and that a refusal tells all that is wrong at once."""

from __future__ import annotations

import hashlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.policy import Fault, PolicyError, Weights, parse_policy, policy_sha256
from shared.vocabulary import Verdict
from tests.unit.domain.build import shipped_text

TEXT = """
version = "v-1"
[routes]
default = "posts"
[categories.hate]
severity = 60
low = 0.20
high = 0.95
[categories.terror]
severity = 90
low = 0.10
high = 0.9500000000000000000000000000000000000001
fail_closed = true
[scorers.producer]
categories = ["hate", "terror"]
[queues.posts]
title = "Posts"
kinds = ["post"]
verdicts = ["approve", "escalate"]
escalation_queue = "senior"
[queues.senior]
title = "Seniors"
verdicts = ["approve"]
[reasons]
fine = { title = "Fine", verdicts = ["approve"] }
gap = { title = "No rule", verdicts = ["escalate"], queues = ["posts"], category = "hate" }
"""


def faults(text: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    return [str(fault) for fault in caught.value.faults]


def changed(old: str, new: str) -> str:
    assert TEXT.count(old) >= 1
    return TEXT.replace(old, new, 1)


def test_a_policy_is_read_with_exact_decimals() -> None:
    policy = parse_policy(TEXT)
    assert policy.version == "v-1"
    assert policy.categories["terror"].high == Decimal("0." + "95" + "0" * 37 + "1")
    assert policy.weights == Weights(severity=10, exposure=1, age_per_minute=0.5)
    assert policy.reasons[1].code == "gap"


def test_thresholds_may_meet_so_that_nothing_but_that_score_goes_to_people() -> None:
    hate = parse_policy(changed("low = 0.20", "low = 0.95")).categories["hate"]
    assert hate.low == hate.high


def test_a_kind_goes_to_the_queue_that_names_it_and_else_to_the_default() -> None:
    policy = parse_policy(changed('title = "Seniors"', 'title = "Seniors"\nkinds = ["kyc"]'))
    assert policy.routes == {"post": "posts", "kyc": "senior"}
    assert [policy.queue_for(kind) for kind in ("post", "kyc", "poem")] == [
        "posts",
        "senior",
        "posts",
    ]


def test_reasons_keep_the_order_of_the_document() -> None:
    policy = parse_policy(TEXT)
    assert [reason.code for reason in policy.reasons_for("posts")] == ["fine", "gap"]
    assert [reason.code for reason in policy.reasons_for("senior")] == ["fine"]
    assert policy.reasons_for("nowhere") == ()
    assert [reason.code for reason in policy.admitted("posts", Verdict.ESCALATE)] == ["gap"]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('version = "v-1"\n', "", "version: a text is needed"),
        ('"v-1"', '"a version"', "version: 1 to 32 of"),
        ('"v-1"', '"' + "v" * 33 + '"', "version: 1 to 32 of"),
        ('"v-1"', "7", "version: a text is needed"),
        ('default = "posts"', 'default = "nowhere"', "routes.default: names no queue"),
        ('[routes]\ndefault = "posts"', "", "routes: this section is missing"),
        ("[categories.hate]", "[categories.Hate]", "categories.Hate: a name matches"),
        ("severity = 60", "severity = -1", "categories.hate.severity: a whole number in [0, 1000]"),
        ("severity = 60", "severity = 60.5", "categories.hate.severity: Expected `int`"),
        ("severity = 60", "severity = true", "categories.hate.severity: Expected `int`"),
        ("severity = 60\n", "", "categories.hate: Object missing required field `severity`"),
        ("low = 0.20", "low = 0.96", "categories.hate.low: lies above high"),
        ("low = 0.20", "low = -0.1", "categories.hate.low: a number in [0, 1]"),
        ("low = 0.20", "low = nan", "categories.hate.low: a number in [0, 1]"),
        ("low = 0.20", "low = inf", "categories.hate.low: a number in [0, 1]"),
        ("low = 0.20", 'low = "NaN"', "categories.hate.low: a number in [0, 1]"),
        ("low = 0.20", "low = 1e-500", "categories.hate.low: at most 400 decimal places"),
        ("low = 0.20", "lov = 0.20", "categories.hate: Object"),
        ("high = 0.95", "high = 1.01", "categories.hate.high: a number in [0, 1]"),
        ('["hate", "terror"]', '["hate"]', "categories.terror.fail_closed: no scorer covers it"),
        ('["hate", "terror"]', '["hate", "terror", "x"]', "scorers.producer.categories: x is no"),
        ('["hate", "terror"]', '["terror", "terror"]', "scorers.producer.categories: terror stand"),
        ("[scorers.producer]", '[scorers."a b"]', "scorers.a b: a name matches"),
        ("[queues.posts]", "[queues.POSTS]", "queues.POSTS: a name matches"),
        ('title = "Posts"', 'title = ""', "queues.posts.title: 1 to 80 printable"),
        ('title = "Posts"', 'title = "a\\u001bb"', "queues.posts.title: 1 to 80 printable"),
        ('title = "Posts"', 'title = "P"\nlease_ttl_ms = 0', "queues.posts.lease_ttl_ms: a whole"),
        ('title = "Posts"', 'title = "P"\nsla_ms = -5', "queues.posts.sla_ms: a whole number"),
        ('title = "Posts"', 'title = "P"\nundo_window_ms = -1', "queues.posts.undo_window_ms: a w"),
        (
            'title = "Posts"',
            'title = "P"\nmax_hold_ms = 1000',
            "queues.posts.max_hold_ms: lies below lease_ttl_ms",
        ),
        (
            'title = "Posts"',
            'title = "P"\nabandon_threshold = 0',
            "queues.posts.abandon_threshold: a whole number in [1, 100]",
        ),
        (
            'title = "Posts"',
            'title = "P"\nclaimable_by = []',
            "queues.posts.claimable_by: at least one role",
        ),
        (
            'title = "Posts"',
            'title = "P"\nclaimable_by = ["king"]',
            "queues.posts.claimable_by[0]: Invalid enum value",
        ),
        ('"approve", "escalate"]', "]", "queues.posts.verdicts: at least one"),
        ('"approve", "escalate"]', '"approve", "limit"]', "queues.posts.verdicts: limit has no re"),
        ('"approve", "escalate"]', '"approve", "approve"]', "queues.posts.verdicts: approve stand"),
        (
            'escalation_queue = "senior"\n',
            "",
            "queues.posts.verdicts: escalate needs an escalation_queue",
        ),
        ('escalation_queue = "senior"', 'escalation_queue = "x"', "queues.posts.escalation_queue"),
        (
            'escalation_queue = "senior"',
            'escalation_queue = "posts"',
            "queues.posts.escalation_queue: leads in a circle",
        ),
        (
            'title = "Seniors"',
            'title = "S"\nescalation_queue = "posts"',
            "queues.senior.escalation_queue: leads in a circle",
        ),
        (
            'title = "Seniors"',
            'title = "S"\nkinds = ["post"]',
            "queues.posts.kinds: post is sent to senior as well",
        ),
        ('title = "Seniors"', 'title = "S"\nkinds = ["a b"]', "queues.senior.kinds: 'a b' is no"),
        ("fine = {", "Fine = {", "reasons.Fine: a name matches"),
        ('title = "Fine"', 'title = ""', "reasons.fine.title: 1 to 80"),
        ('verdicts = ["approve"] }', "verdicts = [] }", "reasons.fine.verdicts: at least one"),
        ('verdicts = ["approve"] }', 'verdicts = ["maybe"] }', "reasons.fine.verdicts[0]: Inv"),
        ('queues = ["posts"]', 'queues = ["x"]', "reasons.gap.queues: x is no queue"),
        ('category = "hate"', 'category = "x"', "reasons.gap.category: x is no category"),
        ("fine = {", 'fine = { code = "other",', "reasons.fine.code: its name says it already"),
        ("[reasons]", "[rank]\nage_per_minute = 0\n[reasons]", "rank.age_per_minute: must be abo"),
        ("[reasons]", "[rank]\nexposure = nan\n[reasons]", "rank.exposure: a number in"),
        ("[reasons]", "[rank]\nseverity = -1.5\n[reasons]", "rank.severity: a number in"),
        ("[reasons]", "[rank]\nage = 1\n[reasons]", "rank: Object contains unknown field `age`"),
        ("[reasons]", "[surprise]\n[reasons]", "surprise: no such section"),
        ("[scorers.producer]", "scorers = 3\n[unused]", "no such section"),
        ("[reasons]", "[reasons\n", "not TOML"),
        ("[reasons]", "[routes]\n[reasons]", "not TOML"),
    ],
)
def test_a_fault_is_told_with_its_path(old: str, new: str, fault: str) -> None:
    told = faults(changed(old, new))
    assert any(fault in line for line in told), told


def test_all_faults_are_told_at_once() -> None:
    text = changed("severity = 60", "severity = -1").replace("low = 0.10", "low = 7")
    told = faults(text.replace('"senior"', '"junior"'))
    assert len(told) == 3


def test_faults_of_shape_do_not_hide_one_another() -> None:
    text = changed("severity = 60", 'severity = "x"').replace("low = 0.10", "low = true")
    assert len(faults(text)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version = 1",
        "categories = 1\nqueues = []\nreasons = 'x'\nscorers = 2",
        "[categories]\nhate = 3",
        "x = " + "[" * 5_000,
        "x = 1" + "0" * 10_000,
        "x = 1e99999999999999999999999",
        "low = 1979-05-27T07:32:00Z",
        "#" * 1_000_001,
        "\x00",
        "\ufeff" + TEXT,
    ],
)
def test_no_text_breaks_the_parser(text: str) -> None:
    assert faults(text)


@given(st.text(max_size=200))
def test_any_text_is_a_policy_or_a_list_of_faults(text: str) -> None:
    assert faults(text)


@given(st.integers(0, len(TEXT) - 1), st.characters())
def test_a_text_with_one_character_changed_is_a_policy_or_a_list_of_faults(
    at: int, char: str
) -> None:
    try:
        assert parse_policy(TEXT[:at] + char + TEXT[at + 1 :]).plan.steps
    except PolicyError as error:
        assert error.faults  # noqa: PT017 - either way is right; anything else is not


def test_faults_show_no_control_characters() -> None:
    told = faults(TEXT + '\n[queues."\\u001b]0;x"]\ntitle = "X"\n')
    assert all(line.isprintable() for line in told)
    assert str(Fault("", "whole")) == "whole"


@pytest.mark.parametrize("name", ["standard", "hate-offensive"])
def test_a_policy_is_known_by_the_hash_of_its_text(name: str) -> None:
    text = shipped_text(name)
    assert policy_sha256(text) == hashlib.sha256(text.encode()).hexdigest()

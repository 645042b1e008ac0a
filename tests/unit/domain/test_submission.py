"""Each field of a submission: what is accepted, what is refused, and by which name."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.refusals import InvalidField
from backend.domain.submission import (
    CheckedContent,
    check_case,
    check_submission,
    shown_content,
)
from shared.evidence import Evidence, evidence_bytes
from shared.wire.content import Case, Submission

decode = msgspec.json.Decoder(Submission).decode


def checked(**fields: Any) -> CheckedContent:
    body = {"content_id": "c-1", **fields}
    return check_submission(decode(json.dumps(body).encode()))


def refused(**fields: Any) -> str:
    with pytest.raises(InvalidField) as caught:
        checked(**fields)
    return caught.value.field


def test_a_whole_submission_is_checked() -> None:
    content = checked(
        kind="post",
        lang="pt-BR",
        text="olá",
        fields={"n": 1},
        labels={"hate": 0.5},
        model_version="m 1.0",
        author_id="jörg",
        author_followers=2**63 - 1,
        created_at="2026-01-05T02:00:00.5+02:00",
        queue="posts",
    )
    assert content.labels == {"hate": Decimal("0.5")}
    assert content.created_at == datetime(2026, 1, 5, 0, 0, 0, 500_000, tzinfo=UTC)
    assert content.author_followers == 2**63 - 1
    assert json.loads(content.body)["created_at"] == "2026-01-05T00:00:00.500000Z"


def test_everything_but_the_id_may_be_left_out() -> None:
    content = checked()
    assert (content.kind, content.text, content.labels, content.fields) == ("post", None, {}, {})


@pytest.mark.parametrize("good", ["a", "0", "A.b_c:d~e-f", "x" * 64])
def test_content_ids(good: str) -> None:
    assert checked(content_id=good).content_id == good


@pytest.mark.parametrize(
    "bad", ["", "-a", ".a", "x" * 65, "a b", "a/b", "a\n", "ä", "a\0", "a\u200b", "\u0661", "%61"]
)
def test_no_content_ids(bad: str) -> None:
    assert refused(content_id=bad) == "content_id"


@pytest.mark.parametrize("field", ["kind", "queue"])
@pytest.mark.parametrize("bad", ["", "Post", "a b", "1a", "a" * 41, "a\n", "a\0", "é"])
def test_no_names(field: str, bad: str) -> None:
    assert refused(**{field: bad}) == field


@pytest.mark.parametrize("good", ["en", "pt-BR", "zh-Hant-TW", "und", "x-klingon"])
def test_languages(good: str) -> None:
    if good.startswith("x-"):
        assert refused(lang=good) == "lang"
    else:
        assert checked(lang=good).lang == good


@pytest.mark.parametrize("bad", ["", "e", "en_US", "en\n", "en-", "a" * 36, "de-" * 20, "en\0"])
def test_no_languages(bad: str) -> None:
    assert refused(lang=bad) == "lang"


@pytest.mark.parametrize(
    "text", ["", "a", "\x1b[31m\u202e\u200b\r\n\t", "x" * 2**20, "€" * 349_525]
)
def test_texts_are_kept_as_they_are(text: str) -> None:
    assert checked(text=text).text == text


@pytest.mark.parametrize("text", ["x" * (2**20 + 1), "€" * 349_526, "a\0b", "\0"])
def test_texts_that_no_database_holds_or_no_screen_shows(text: str) -> None:
    assert refused(text=text) == "text"


@pytest.mark.parametrize("lone", ["\ud800", "a\udfffb"])
@pytest.mark.parametrize("field", ["text", "author_id", "model_version"])
def test_lone_surrogates_are_refused_from_any_caller(field: str, lone: str) -> None:
    body = msgspec.structs.replace(Submission(content_id="c-1"), **{field: lone})
    with pytest.raises(InvalidField) as caught:
        check_submission(body)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("a", "a"), ("A B", "A B"), ("x" * 128, "x" * 128), ("jo\u0308rg", "jörg"), ("鈴木", "鈴木")],
)
def test_author_ids_are_kept_in_nfc(sent: str, kept: str) -> None:
    assert checked(author_id=sent).author_id == kept


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "x" * 129,
        "\u0958" * 128,  # one character each, two in NFC
        "a\0",
        "a\x1b",
        "a\x7f",
        "a\x85",
        "c\u200b",
        "\u202ec",
        "\ufeffc",
        "a\u00adb",
        "a\u2028b",
        "a\u2029b",
        "a\nb",
        "\U000e0041",
    ],
)
def test_author_ids_that_look_like_others_are_refused(bad: str) -> None:
    assert refused(author_id=bad) == "author_id"


@pytest.mark.parametrize("bad", [-1, 2**63, 2**64, 10**30])
def test_followers_that_no_account_has(bad: int) -> None:
    assert refused(author_followers=bad) == "author_followers"


@pytest.mark.parametrize("good", [0, 1, 2**53 + 1, 2**63 - 1])
def test_followers(good: int) -> None:
    content = checked(author_followers=good)
    assert content.author_followers == good
    assert json.loads(content.body)["author_followers"] == str(good)


@pytest.mark.parametrize(
    "bad",
    [
        "2026-01-05T00:00:00",
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "1969-12-31T23:59:59.999999Z",
        "1970-01-01T00:00:00+00:01",
        "9998-12-31T23:59:59-00:01",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-23:59",
    ],
)
def test_times_that_something_later_would_fall_over(bad: str) -> None:
    assert refused(created_at=bad) == "created_at"


@pytest.mark.parametrize(
    ("good", "kept"),
    [
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"),
        ("9998-12-31T23:59:59.999999Z", "9998-12-31T23:59:59.999999Z"),
        ("2026-03-29T02:30:00+01:00", "2026-03-29T01:30:00.000000Z"),  # in a gap of local time
        ("2026-01-05T00:00:00.1234567Z", "2026-01-05T00:00:00.123457Z"),
        ("2024-02-29T23:59:59-23:59", "2024-03-01T23:58:59.000000Z"),
    ],
)
def test_times_are_kept_in_utc(good: str, kept: str) -> None:
    assert shown_content(checked(created_at=good)).created_at == kept


@pytest.mark.parametrize("good", ["m", "gpt 4", "modèle-1", "x" * 64])
def test_model_versions(good: str) -> None:
    assert checked(model_version=good).model_version == good


@pytest.mark.parametrize("bad", ["", "x" * 65, "a\n", "a\x1b[0m", "a\u202e", "a\u2028"])
def test_no_model_versions(bad: str) -> None:
    assert refused(model_version=bad) == "model_version"


def test_faults_in_labels_and_fields_are_named_by_path() -> None:
    assert refused(labels={"hate": 1.5}) == "labels.hate"
    assert refused(labels={"Hate": 0.5}) == "labels[0]"
    assert refused(labels=[0.5]) == "labels"
    assert refused(fields={"amount": 12.5}) == "fields.amount"
    assert refused(fields="x") == "fields"


def test_a_case_is_checked_the_same_way_and_has_a_queue() -> None:
    case = msgspec.json.decode(b'{"content_id":"kyc:1","fields":{"a":[1]}}', type=Case)
    content = check_case(case, "cases")
    assert (content.kind, content.queue, content.labels) == ("case", "cases", {})
    with pytest.raises(InvalidField):
        check_case(case, "No Queue")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"labels": {"a": 0.5, "b": 1}}, {"labels": {"b": 1.0, "a": 0.5}}),
        ({"fields": {"a": 1, "b": [2]}}, {"fields": {"b": [2], "a": 1}}),
        ({"author_id": "jörg"}, {"author_id": "jo\u0308rg"}),
        ({"created_at": "2026-01-05T00:00:00Z"}, {"created_at": "2026-01-05T01:00:00+01:00"}),
        ({}, {"kind": "post", "labels": {}, "fields": {}, "text": None}),
    ],
)
def test_two_bodies_that_say_the_same_have_the_same_bytes(
    one: dict[str, Any], two: dict[str, Any]
) -> None:
    assert checked(**one).body == checked(**two).body


@pytest.mark.parametrize(
    "other",
    [
        {"content_id": "c-2"},
        {"kind": "comment"},
        {"lang": "en"},
        {"text": ""},
        {"fields": {"a": None}},
        {"labels": {"a": 0}},
        {"model_version": "m"},
        {"author_id": "a"},
        {"author_followers": 1},
        {"created_at": "2026-01-05T00:00:00Z"},
        {"queue": "posts"},
    ],
)
def test_each_field_tells_two_bodies_apart(other: dict[str, Any]) -> None:
    assert checked(**other).body != checked().body


def test_a_fingerprint_says_nothing_without_its_nonce() -> None:
    content = checked(text="hello")
    assert content.fingerprint(b"one") == checked(text="hello").fingerprint(b"one")
    assert content.fingerprint(b"one") != content.fingerprint(b"two")
    assert len(content.fingerprint(b"")) == 32


@given(st.text(max_size=40), st.sampled_from(["text", "author_id", "model_version"]))
def test_what_is_accepted_can_be_hashed_and_shown(value: str, field: str) -> None:
    body = msgspec.structs.replace(Submission(content_id="c-1"), **{field: value})
    try:
        content = check_submission(body)
    except InvalidField as refusal:
        assert refusal.field == field  # noqa: PT017 - accepting it is right as well
        return
    evidence = Evidence(
        nonce="00", revision=1, content=shown_content(content), policy_version="p-1"
    )
    assert evidence_bytes(evidence)
    assert "\0" not in content.body.decode()

"""Bodies that can't be decoded are refused by name, and nothing that was sent comes back."""

from __future__ import annotations

import base64
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.decoding import refusal_of
from backend.domain.refusals import InvalidField, Malformed, Refusal
from shared.wire.content import Submission
from shared.wire.item import TakeBackRequest
from shared.wire.queue import ClaimRequest, VerdictRequest

submission = msgspec.json.Decoder(Submission)
batch = msgspec.json.Decoder(list[Submission])


def refusal(
    raw: bytes,
    decoder: msgspec.json.Decoder[Submission] | msgspec.json.Decoder[list[Submission]] = submission,
) -> Refusal:
    try:
        decoder.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as fault:
        return refusal_of(fault)
    raise AssertionError("decoded, though it should not have been")


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b"{}", "content_id"),
        (b'{"content_id":7}', "content_id"),
        (b'{"content_id":null}', "content_id"),
        (b'{"content_id":"a","text":7}', "text"),
        (b'{"content_id":"a","author_followers":"7"}', "author_followers"),
        (b'{"content_id":"a","author_followers":5.0}', "author_followers"),
        (b'{"content_id":"a","author_followers":1e30}', "author_followers"),
        (b'{"content_id":"a","author_followers":true}', "author_followers"),
        (b'{"content_id":"a","author_followers":' + b"9" * 5_000 + b"}", "author_followers"),
        (b'{"content_id":"a","created_at":""}', "created_at"),
        (b'{"content_id":"a","created_at":"yesterday"}', "created_at"),
        (b'{"content_id":"a","created_at":1577836800}', "created_at"),
        (b'{"content_id":"a","created_at":"2026-02-30T00:00:00Z"}', "created_at"),
        (b'{"content_id":"a","created_at":"2026-01-01T23:59:60Z"}', "created_at"),
        (b'{"content_id":"a","reviewer_id":"me"}', "reviewer_id"),
        (b'{"content_id":"a","\\u001b]0;x":1}', ""),
        (b"[]", ""),
        (b"7", ""),
    ],
)
def test_a_body_of_the_wrong_shape_names_its_field(raw: bytes, field: str) -> None:
    found = refusal(raw)
    assert isinstance(found, InvalidField)
    assert found.field == field
    assert found.detail


def test_a_row_of_a_batch_is_named_by_its_place() -> None:
    found = refusal(b'[{"content_id":"a"},{"content_id":"b","text":[]}]', batch)
    assert (found.field, found.code) == ("[1].text", "invalid_field")
    assert refusal(b'[{"content_id":"a"},{}]', batch).field == "[1].content_id"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"content_id":"a"',
        b'{"content_id":"a"}}',
        b'{"content_id":NaN}',
        b'{"content_id":"a\x00"}',
        b'{"content_id":"\\ud800"}',
        b'{"content_id":"\xff"}',
        b'\xef\xbb\xbf{"content_id":"a"}',
        '{"content_id":"a"}'.encode("utf-16"),
        b"+AHs-",
        b'{"content_id":"a","labels":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        base64.b64decode("eyJjb250ZW50X2lkIjoieCIsInRleHQiOiL/In0="),
    ],
)
def test_bytes_that_are_no_json_are_malformed(raw: bytes) -> None:
    found = refusal(raw)
    assert isinstance(found, Malformed)
    assert found.detail.isprintable()


def test_an_unknown_word_of_a_closed_list_is_not_repeated() -> None:
    raw = json.dumps(
        {
            "lease_token": "0" * 8 + "-0000-0000-0000-" + "0" * 12,
            "verdict_token": "0" * 8 + "-0000-0000-0000-" + "0" * 12,
            "evidence_hash": "a" * 64,
            "verdict": "canary",
            "reason": "x",
        }
    )
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(raw, type=VerdictRequest)
    found = refusal_of(caught.value)
    assert found.field == "verdict"
    assert "canary" not in str(found.problem())


@pytest.mark.parametrize("field", ["lease_token", "evidence_hash"])
def test_a_token_of_the_wrong_form_names_its_field(field: str) -> None:
    good = {
        "lease_token": "0" * 8 + "-0000-0000-0000-" + "0" * 12,
        "verdict_token": "0" * 8 + "-0000-0000-0000-" + "0" * 12,
        "evidence_hash": "a" * 64,
        "verdict": "approve",
        "reason": "x",
    }
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(json.dumps({**good, field: "canary"}), type=VerdictRequest)
    found = refusal_of(caught.value)
    assert found.field == field
    assert "canary" not in str(found.problem())


@given(st.text(), st.text() | st.integers() | st.none() | st.floats())
def test_no_refusal_repeats_what_was_sent(key: str, value: object) -> None:
    canary = "CanaryValue"
    raw = json.dumps({"content_id": [canary], key + canary: value}).encode()
    try:
        submission.decode(raw)
    except msgspec.MsgspecError as fault:
        told = str(refusal_of(fault).problem())
    else:
        raise AssertionError("a list is no content id")
    assert canary not in told
    assert told.isprintable()


UUID = "0" * 8 + "-0000-0000-0000-" + "0" * 12
REASONS = "one of holder_away, conflict, reassign, mistake"


@pytest.mark.parametrize(
    ("shape", "sent", "field", "told"),
    [
        (TakeBackRequest, {"lease_epoch": 1}, "reason", f"this field is required: {REASONS}"),
        (TakeBackRequest, {"lease_epoch": 1, "reason": "canary"}, "reason", REASONS),
        (TakeBackRequest, {"lease_epoch": 1, "reason": 7}, "reason", REASONS),
        (TakeBackRequest, {"reason": "mistake"}, "lease_epoch", "this field is required"),
        (ClaimRequest, {"claim_key": "canary"}, "claim_key", "a UUID in lower-case hex"),
        (ClaimRequest, {"claim_key": 7}, "claim_key", "a UUID in lower-case hex"),
        (ClaimRequest, {}, "claim_key", "this field is required: a UUID in lower-case hex"),
        (
            ClaimRequest,
            {"claim_key": UUID, "terminal": 7},
            "terminal",
            "expected str | null, got int",
        ),
        (ClaimRequest, {"claim_key": UUID, "mode": 7}, "mode", "a field that is not known here"),
    ],
)
def test_a_field_of_a_few_words_or_a_form_says_what_it_takes(
    shape: type[msgspec.Struct], sent: dict[str, object], field: str, told: str
) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(json.dumps(sent), type=shape)
    found = refusal_of(caught.value, shape)
    assert (found.field, found.detail) == (field, told)

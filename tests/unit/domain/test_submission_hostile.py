"""Recorded hostile strings and bytes in every field that a producer controls.

Each is stored as it is, or refused with a 422 that names the field; no refusal repeats it.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backend.domain.decoding import refusal_of
from backend.domain.refusals import Refusal
from backend.domain.submission import CheckedContent, check_submission, shown_content
from shared.evidence import Evidence, evidence_bytes, evidence_hash, open_evidence
from shared.wire.content import Submission
from tests.unit.domain.build import SHARED_DATA

STRINGS = SHARED_DATA / "hostile_strings.jsonl"
BYTES = SHARED_DATA / "hostile_bytes.jsonl"
OWN = Path(__file__).with_name("hostile.json")
decode = msgspec.json.Decoder(Submission).decode

BODIES: dict[str, Any] = {
    "content_id": lambda text: {"content_id": text},
    "kind": lambda text: {"kind": text},
    "lang": lambda text: {"lang": text},
    "text": lambda text: {"text": text},
    "queue": lambda text: {"queue": text},
    "author_id": lambda text: {"author_id": text},
    "model_version": lambda text: {"model_version": text},
    "author_followers": lambda text: {"author_followers": text},
    "created_at": lambda text: {"created_at": text},
    "labels": lambda text: {"labels": {text: 0.5}},
    "labels.hate": lambda text: {"labels": {"hate": text}},
    "fields": lambda text: {"fields": {text: text}},
    "fields.a": lambda text: {"fields": {"a": [text]}},
    "": lambda text: {text: "x"},
}


def strings() -> list[str]:
    texts: list[str] = json.loads(OWN.read_bytes())
    if STRINGS.exists():
        lines = STRINGS.read_text(encoding="utf-8").splitlines()
        texts += [json.loads(line)["text"] for line in lines]
    return texts


def submit(raw: bytes) -> CheckedContent | Refusal:
    try:
        return check_submission(decode(raw))
    except Refusal as refusal:
        return refusal
    except (msgspec.MsgspecError, RecursionError) as fault:
        return refusal_of(fault)


def shows(content: CheckedContent) -> bool:
    """Whether evidence can be made of it, hashed, and opened again as it was."""
    evidence = Evidence(
        nonce="00", revision=1, content=shown_content(content), policy_version="p-1"
    )
    data = evidence_bytes(evidence)
    return open_evidence(data.decode(), evidence_hash(data)) == evidence


@pytest.mark.parametrize("field", list(BODIES))
def test_a_hostile_string_is_stored_or_refused_by_name(field: str) -> None:
    for text in strings():
        body = {"content_id": "c-1", **BODIES[field](text)}
        outcome = submit(json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass"))
        if isinstance(outcome, Refusal):
            told = str(outcome.problem())
            assert outcome.status in (400, 422)
            # Text that is no UTF-8 has no inner path: its whole member is named.
            assert outcome.status == 400 or outcome.field.startswith(field.partition(".")[0])
            assert len(text) < 12 or text not in told
            assert told.isprintable()
        else:
            assert shows(outcome)


@pytest.mark.parametrize("field", ["text", "fields.a"])
def test_nearly_every_hostile_string_is_content_that_people_may_see(field: str) -> None:
    refused = [
        text
        for text in strings()
        if isinstance(
            submit(json.dumps({"content_id": "c", **BODIES[field](text)}).encode()), Refusal
        )
    ]
    assert all("\0" in text or any("\ud800" <= c <= "\udfff" for c in text) for text in refused)


def byte_strings() -> list[bytes]:
    own = [b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"trunc\xe2\x82"]
    if BYTES.exists():
        lines = BYTES.read_text(encoding="utf-8").splitlines()
        own += [base64.b64decode(json.loads(line)["base64"]) for line in lines]
    return own


@pytest.mark.parametrize(
    "frame",
    [
        b'{"content_id":"%s"}',
        b'{"content_id":"c","text":"%s"}',
        b'{"content_id":"c","author_id":"%s"}',
        b'{"content_id":"c","labels":{"%s":0.5}}',
        b'{"content_id":"c","fields":{"a":"%s"}}',
        b'{"content_id":"c","fields":{"%s":1}}',
        b'{"content_id":"c","fields":%s}',
        b'{"content_id":"c","labels":%s}',
        b"%s",
    ],
)
def test_hostile_bytes_are_refused(frame: bytes) -> None:
    for hostile in byte_strings():
        outcome = submit(frame % hostile)
        assert isinstance(outcome, Refusal)
        assert outcome.status in (400, 422)


def test_all_recorded_strings_were_tried() -> None:
    assert len(strings()) > (600 if STRINGS.exists() else 30)

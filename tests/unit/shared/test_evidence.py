"""Evidence: the same facts, the same bytes, the same hash; and nothing shown that is not proved."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from shared.evidence import (
    EVIDENCE_FORMAT,
    Evidence,
    ShownContent,
    ShownLabel,
    ShownRuleHit,
    evidence_bytes,
    evidence_hash,
    open_evidence,
)
from shared.vocabulary import Band
from tests.unit.domain.build import GOLDEN

VECTORS = json.loads((GOLDEN / "evidence.json").read_bytes())

texts = st.text(max_size=10)
contents = st.builds(
    ShownContent,
    content_id=texts,
    kind=texts,
    lang=st.none() | texts,
    text=st.none() | texts,
    fields=st.dictionaries(texts, st.integers(0, 9) | texts | st.lists(st.booleans(), max_size=2)),
    author_id=st.none() | texts,
    created_at=st.none() | texts,
)
shown_labels = st.builds(
    ShownLabel,
    category=texts,
    score=st.none() | texts,
    low=texts,
    high=texts,
    band=st.sampled_from(Band),
    severity=st.integers(0, 1000),
    fail_closed=st.booleans(),
)
rule_hits = st.builds(
    ShownRuleHit, rule=texts, category=texts, start=st.none() | st.integers(0, 9), end=st.none()
)
evidences = st.builds(
    Evidence,
    nonce=texts,
    revision=st.integers(1, 99),
    content=contents,
    labels=st.lists(shown_labels, max_size=3).map(tuple),
    rules=st.lists(rule_hits, max_size=2).map(tuple),
    attachments=st.lists(texts, max_size=2).map(tuple),
    deciding=st.none() | texts,
    policy_version=texts,
    model_version=st.none() | texts,
    statement=st.none() | texts,
)


@pytest.mark.parametrize("vector", VECTORS["vectors"])
def test_golden_evidence_keeps_its_bytes_and_its_hash(vector: dict[str, Any]) -> None:
    evidence = msgspec.convert(vector["evidence"], Evidence)
    data = evidence_bytes(evidence)
    assert data.decode() == vector["canonical"]
    assert evidence_hash(data) == vector["hash"]
    assert open_evidence(vector["canonical"], vector["hash"]) == evidence


def test_golden_vectors_are_of_this_format() -> None:
    assert VECTORS["format"] == EVIDENCE_FORMAT


@given(evidences)
def test_any_evidence_comes_back_as_it_was(evidence: Evidence) -> None:
    data = evidence_bytes(evidence)
    assert open_evidence(data.decode(), evidence_hash(data)) == evidence


@given(evidences)
def test_any_evidence_has_the_bytes_of_an_independent_writer(evidence: Evidence) -> None:
    data = evidence_bytes(evidence)
    assert data == rfc8785.dumps(msgspec.to_builtins(evidence))
    assert evidence_hash(data) == hashlib.sha256(data).hexdigest()


@given(evidences, evidences)
def test_other_facts_have_another_hash(one: Evidence, two: Evidence) -> None:
    same = evidence_hash(evidence_bytes(one)) == evidence_hash(evidence_bytes(two))
    assert same == (one == two)


@given(evidences, st.data())
def test_one_changed_character_is_not_shown(evidence: Evidence, data: st.DataObject) -> None:
    text = evidence_bytes(evidence).decode()
    at = data.draw(st.integers(0, len(text) - 1))
    other = "x" if text[at] != "x" else "y"
    with pytest.raises(ValueError, match="not the evidence that was hashed"):
        open_evidence(text[:at] + other + text[at + 1 :], evidence_hash(text.encode()))


def small() -> Evidence:
    return Evidence(
        nonce="00",
        revision=1,
        content=ShownContent(content_id="c", kind="post"),
        policy_version="p",
    )


@pytest.mark.parametrize("path", [(), ("content",)])
def test_what_this_version_does_not_know_is_not_passed_over(path: tuple[str, ...]) -> None:
    told = msgspec.to_builtins(small())
    inner = told
    for step in path:
        inner = inner[step]
    inner["hidden"] = "a part that would not be shown"
    data = rfc8785.dumps(told)
    with pytest.raises(ValueError, match="can't show"):
        open_evidence(data.decode(), evidence_hash(data))


def test_a_float_has_no_place_in_evidence() -> None:
    content = ShownContent(content_id="c", kind="post", fields={"score": 0.5})
    with pytest.raises(ValueError, match="float"):
        evidence_bytes(msgspec.structs.replace(small(), content=content))


def test_a_lone_surrogate_has_no_place_in_evidence() -> None:
    content = ShownContent(content_id="c", kind="post", text="\ud800")
    with pytest.raises(ValueError, match="surrogate"):
        evidence_bytes(msgspec.structs.replace(small(), content=content))


def test_text_that_can_not_be_encoded_is_not_shown() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        open_evidence("\ud800", "0" * 64)

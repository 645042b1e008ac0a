"""Hostile input in every field that a producer controls: stored as it is, or refused by name."""

from __future__ import annotations

import asyncio
import json
import time
import unicodedata
from typing import Any, TypeAlias

import asyncpg
import msgspec
import pytest

from shared.evidence import open_evidence
from shared.problems import Problem
from shared.vocabulary import Role
from shared.wire.content import BatchReceipt
from tests.support.api import Api, problem
from tests.support.gateway import SAFE, body
from tests.support.hostile import byte_strings, strings

Admin: TypeAlias = "asyncpg.Connection[Any]"

PLAIN = ("content_id", "kind", "lang", "text", "model_version", "author_id", "created_at", "queue")
UNSURE = SAFE | {"hate": 0.5}


def hostile_row(number: int, field: str, value: str) -> dict[str, Any]:
    """Return a submission with one hostile field; it is queued, so that evidence is made of it."""
    row: dict[str, Any] = {"content_id": f"h-{number}", "labels": UNSURE}
    if field == "labels":
        return row | {"labels": {value: 0.5}}
    if field == "fields key":
        return row | {"fields": {value: "x"}}
    if field == "fields value":
        return row | {"fields": {"x": [{"y": value}]}}
    return row | {field: value}


def assert_refused_by_name(field: str, value: str, told: Problem) -> None:
    """Assert that a refusal names the field and does not repeat its value."""
    assert told.code in ("invalid_field", "duplicate_key"), (field, value)
    assert told.field.startswith(field.partition(" ")[0]), (field, value)
    if len(value) > 12 and not value.isalpha():
        assert value not in msgspec.json.encode(told).decode(), field


def assert_stored(field: str, value: str, body_of: dict[str, Any]) -> None:
    """Assert that what stands in the stored body is what was sent."""
    if field == "labels":
        assert body_of["labels"] == {value: "0.5"}
    elif field == "fields key":
        assert body_of["fields"] == {value: "x"}
    elif field == "fields value":
        assert body_of["fields"] == {"x": [{"y": value}]}
    elif field == "author_id":
        assert body_of[field] == unicodedata.normalize("NFC", value)
    elif field != "created_at":
        assert body_of[field] == value


async def test_every_hostile_string_is_stored_or_refused_by_its_fields_name(
    api: Api, admin: Admin
) -> None:
    fields = (*PLAIN, "labels", "fields key", "fields value")
    cases = [(field, value) for field in fields for value in strings()]
    rows = [hostile_row(number, *case) for number, case in enumerate(cases)]
    taken = {}
    for start in range(0, len(rows), 1000):
        sent = json.dumps(rows[start : start + 1000]).encode()
        answer = await api.post("/v1/content:batch", sent)
        assert answer.status_code == 200, answer.text[:200]
        receipt = msgspec.json.decode(answer.content, type=BatchReceipt)
        for number, row in enumerate(receipt.rows, start):
            if row.receipt is not None:
                taken[row.receipt.content_id] = cases[number]
            else:
                assert row.problem is not None
                assert_refused_by_name(*cases[number], row.problem)
    bodies = await admin.fetch(
        "SELECT c.content_id, p.body FROM content c JOIN payload p ON p.content_id = c.id"
    )
    assert len(taken) == len(bodies) > 2 * len(strings())
    for row in bodies:
        assert_stored(*taken[row["content_id"]], json.loads(row["body"]))


async def test_every_hostile_text_is_shown_as_it_was_sent(api: Api, admin: Admin) -> None:
    texts = [text for text in strings() if "\x00" not in text]
    rows = [
        {"content_id": f"h-{number}", "text": text, "labels": UNSURE}
        for number, text in enumerate(texts)
    ]
    for start in range(0, len(rows), 1000):
        sent = json.dumps(rows[start : start + 1000], ensure_ascii=bool(start)).encode()
        assert (await api.post("/v1/content:batch", sent)).json()["refused"] == 0
    evidence = await admin.fetch("SELECT hash, bytes FROM evidence")
    assert len(evidence) == len(texts)
    for row in evidence:
        shown = open_evidence(row["bytes"].decode(), row["hash"].hex()).content
        assert shown.text == texts[int(shown.content_id.removeprefix("h-"))]


async def test_hostile_bytes_are_refused_and_the_field_is_named(api: Api, admin: Admin) -> None:
    for raw in byte_strings():
        inside = b'{"content_id":"c-1","text":"' + raw + b'"}'
        response = await api.post("/v1/content", inside)
        if response.status_code == 201:  # a byte order mark is a letter like any other in a text
            assert raw.decode().isprintable() or raw == b"\xef\xbb\xbf"
            continue
        if b'"' in raw:  # it ends the text by itself, and what follows is no JSON
            problem(response, 400, "malformed")
            continue
        problem(response, 422, "invalid_field", "text")
        assert (await api.post("/v1/content", raw)).status_code == 400
        assert (await api.post("/v1/content:batch", raw)).status_code == 400
        assert (
            await api.post("/v1/queues/posts/claim", raw, role=Role.REVIEWER)
        ).status_code == 400
    assert await admin.fetchval("SELECT count(*) FROM content") <= 1


NO_SCORES = (
    ('{"hate": NaN}', "labels.hate"),
    ('{"hate": Infinity}', "labels.hate"),
    ('{"hate": -Infinity}', "labels.hate"),
    ('{"hate": 1e400}', "labels.hate"),
    ('{"hate": 1e131071}', "labels.hate"),
    ('{"hate": 1e-131071}', "labels.hate"),
    ('{"hate": 1.0000001}', "labels.hate"),
    ('{"hate": -0.0000001}', "labels.hate"),
    ('{"hate": "0.9"}', "labels.hate"),
    ('{"hate": null}', "labels.hate"),
    ('{"hate": true}', "labels.hate"),
    ('{"hate": [0.5]}', "labels.hate"),
    ('{"Hate": 0.5}', "labels[0]"),
    ('{"h\\u0430te": 0.5}', "labels[0]"),
    ('{"hate\\u0000": 0.5}', "labels[0]"),
    ("null", "labels"),
    ("[]", "labels"),
    ('"x"', "labels"),
    ("{" + ",".join(f'"k{number}":0' for number in range(1001)) + "}", "labels"),
)


async def test_a_score_that_is_none_is_refused_by_its_name(api: Api) -> None:
    for labels, field in NO_SCORES:
        sent = f'{{"content_id":"c-1","labels":{labels}}}'.encode()
        problem(await api.post("/v1/content", sent), 422, "invalid_field", field)


async def test_scores_at_the_edges_are_kept_exactly(api: Api, admin: Admin) -> None:
    for number, (sent, kept) in enumerate(
        (
            ("0", "0"),
            ("1", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("0.20", "0.2"),
            ("1e-300", "0." + "0" * 299 + "1"),
            ("0.1234567890123456789", "0.1234567890123456789"),
        )
    ):
        raw = f'{{"content_id":"c-{number}","labels":{{"spam":{sent}}}}}'.encode()
        assert (await api.post("/v1/content", raw)).status_code == 201, sent
        view = (await api.get(f"/v1/content/c-{number}/decision")).json()
        assert view["labels"] == {"spam": kept}, sent
    assert await admin.fetchval("SELECT count(*) FROM score") == 8


TWICE = (
    ('{"content_id":"c","labels":{"hate":0.1,"hate":0.1}}', "labels.hate"),
    ('{"content_id":"c","labels":{"hate":0.1,"h\\u0061te":0.9}}', "labels.hate"),
    ('{"content_id":"c","labels":{"hate":0.9},"labels":{"hate":0.1}}', "labels"),
    ('{"content_id":"c","text":"a","text":"b"}', "text"),
    ('{"content_id":"c","text":"a","t\\u0065xt":"b"}', "text"),
    ('{"content_id":"c","fields":{"a":1,"a":2}}', "fields.a"),
    ('{"content_id":"c","fields":{"a":[{"b":1,"b":1}]}}', "fields.a[0].b"),
)


async def test_an_object_that_says_a_thing_twice_is_refused(api: Api) -> None:
    for sent, field in TWICE:
        problem(await api.post("/v1/content", sent.encode()), 422, "duplicate_key", field)


async def test_a_value_that_looks_like_a_field_is_no_repetition(api: Api) -> None:
    sent = b'{"content_id":"c-1","kind":"text","text":"kind","labels":{},"author_id":"\\u0061"}'
    assert (await api.post("/v1/content", sent)).status_code == 201


async def test_nesting_has_an_end_and_the_process_survives_the_rest(api: Api) -> None:
    def nested(depth: int) -> bytes:
        inner = b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)
        return b'{"content_id":"c-' + str(depth).encode() + b'","fields":' + inner + b"}"

    assert (await api.post("/v1/content", nested(64))).status_code == 201
    problem(await api.post("/v1/content", nested(65)), 422, "invalid_field", "fields")
    for depth in (2_000, 100_000):
        assert (await api.post("/v1/content", nested(depth))).status_code in (400, 422)
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
            sent = opening * depth + b"1" + closing * depth
            for path in ("/v1/content", "/v1/content:batch"):
                assert (await api.post(path, sent)).status_code in (400, 422), depth
    assert (await api.post("/v1/content", body("after"))).status_code == 201


async def test_followers_that_cannot_be_ranked_are_refused(api: Api) -> None:
    for sent in (-1, 2**63, 10**30, 1.5, 1e30, "7", None, True):
        response = await api.post("/v1/content", body("c-1", author_followers=sent))
        problem(response, 422, "invalid_field", "author_followers")


async def test_the_most_followers_that_can_be_are_ranked(api: Api, admin: Admin) -> None:
    sent = body("c-1", {"hate": 0.5}, author_followers=2**63 - 1)
    assert (await api.post("/v1/content", sent)).status_code == 201
    assert await admin.fetchval("SELECT base FROM item") == pytest.approx(600 + 18.9648, abs=1e-3)


async def test_a_time_that_is_none_is_refused(api: Api) -> None:
    for sent in (
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "2026-01-01T00:00:00",
        "1",
        "now",
        0,
    ):
        response = await api.post("/v1/content", body("c-1", created_at=sent))
        problem(response, 422, "invalid_field", "created_at")


async def test_other_encodings_of_text_are_no_json(api: Api) -> None:
    for encoding in ("utf-16", "utf-32", "utf-7"):
        sent = body("c-1", text="é").decode().encode(encoding)
        response = await api.post("/v1/content", sent)
        if encoding == "utf-7":  # plain ASCII, so it is JSON with an odd text
            assert response.status_code in (201, 400)
        else:
            problem(response, 400, "malformed")
    problem(await api.post("/v1/content", b"\xef\xbb\xbf" + body("c-2")), 400, "malformed")


async def test_hostile_paths_and_headers_are_answered_like_any_other(api: Api) -> None:
    for text in strings()[:44]:
        quoted = "".join(f"%{byte:02X}" for byte in text.encode())
        response = await api.get(f"/v1/content/{quoted}/decision")
        assert response.status_code in (200, 404), text
        item = await api.post(f"/v1/items/{quoted}/renew", b"{}", role=Role.REVIEWER)
        assert item.status_code in (404, 405, 422), text
    for raw in byte_strings():
        headers = [(b"authorization", b"Bearer " + raw.replace(b"\x00", b""))]
        assert (await api.http.get("/v1/me", headers=headers)).status_code == 401


async def test_a_row_of_a_batch_may_be_no_larger_than_a_submission(api: Api) -> None:
    large = b'{"content_id":"large","fields":{"a":"' + b"x" * (2 << 20) + b'"}}'
    rows = b"[" + large + b"," + body("c-2") + b"]"
    answer = (await api.post("/v1/content:batch", rows)).json()
    assert [row["problem"] and row["problem"]["code"] for row in answer["rows"]] == [
        "too_large",
        None,
    ]
    broken = b'[{"content_id":"x","fields":[' + b"1," * (4 << 20) + b"NaN]}," + body("c-3") + b"]"
    problem(await api.post("/v1/content:batch", broken), 413, "too_large")


async def test_a_batch_that_takes_long_to_look_through_keeps_nobody_waiting(api: Api) -> None:
    hostile = b"[" + b",".join(
        b'{"content_id":"c-%d","fields":{"a":[%s1]}}' % (number, b"1," * 9_900)
        for number in range(200)
    )
    looking = asyncio.create_task(api.post("/v1/content:batch", hostile + b"]"))
    longest = 0.0
    while not looking.done():
        before = time.monotonic()
        await asyncio.sleep(0.01)
        longest = max(longest, time.monotonic() - before)
    assert (await looking).json()["created"] == 200
    assert longest < 0.5

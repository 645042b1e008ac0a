"""One line a request, fit for a terminal, and nothing in it that others wrote."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import re
from collections.abc import Iterator

import pytest
import structlog
from litestar import get

from backend.api.access import open_to_all
from backend.api.app import create_app
from backend.api.logs import ForeignLogs, configure_logging, outline
from backend.db.connection import Database
from backend.settings import Settings
from shared.vocabulary import Role
from tests.support.api import Api, serving
from tests.support.gateway import body

CANARY = "canary-4711"


@pytest.fixture
def real_logs(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    before = structlog.get_config()
    configure_logging()
    yield capsys
    structlog.configure(**before)
    root = logging.getLogger()
    root.handlers = [handler for handler in root.handlers if not isinstance(handler, ForeignLogs)]


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """Return the log lines so far; each must be one JSON object of printable text."""
    text = capsys.readouterr().err
    assert all(letter.isprintable() for letter in text.replace("\n", ""))
    return [json.loads(line) for line in text.splitlines()]


async def test_a_request_leaves_one_line_that_tells_template_status_and_id(
    api: Api, real_logs: pytest.CaptureFixture[str]
) -> None:
    headers = {**api.bearer(Role.PRODUCER), "x-request-id": "req-12345"}
    response = await api.http.get("/v1/content/c-1/decision", headers=headers)
    assert response.headers["x-request-id"] == "req-12345"
    (line,) = lines(real_logs)
    assert line["request_id"] == "req-12345"
    assert (line["method"], line["status"]) == ("GET", 404)
    assert line["path"] == "/v1/content/{content_id}/decision"
    assert isinstance(line["ms"], float)


async def test_nothing_that_was_sent_reaches_the_log(
    api: Api, real_logs: pytest.CaptureFixture[str]
) -> None:
    sent = body("c-1", {"hate": 0.5}, text=CANARY, author_id=CANARY, fields={"x": CANARY})
    await api.post("/v1/content", sent)
    await api.post("/v1/content", sent.replace(b'"post"', b'"' + CANARY.encode() + b'"'))
    await api.post("/v1/content", b'{"content_id":"' + CANARY.encode() + b'\x1b"}')
    await api.get(f"/v1/content/{CANARY}/decision")
    await api.get(f"/{CANARY}?{CANARY}")
    await api.http.get("/v1/me", headers={"authorization": f"Bearer fp_test_{CANARY}"})
    secret = api.keys[Role.PRODUCER].split("_")[3]
    found = lines(real_logs)
    assert len(found) == 6
    told = json.dumps(found)
    assert CANARY not in told
    assert secret not in told


async def test_a_request_id_that_could_break_a_line_is_replaced(
    api: Api, real_logs: pytest.CaptureFixture[str]
) -> None:
    for sent in ("x\x1b[2J-red", "short", "x" * 65, 'quote"quote', "a b c d e f"):
        raw = [(b"x-request-id", sent.encode())]
        response = await api.http.get("/healthz", headers=raw)
        assert re.fullmatch(r"[0-9a-f]{32}", response.headers["x-request-id"])
    told = lines(real_logs)
    assert len(told) == 5


async def test_a_line_escapes_controls_in_what_any_part_of_the_house_logs(
    real_logs: pytest.CaptureFixture[str],
) -> None:
    structlog.get_logger().warning("odd", value="a\x1b]0;title\x07\u202e\u2028b", kind="ok")
    (line,) = lines(real_logs)
    assert line["value"] == "a\\x1b]0;title\\x07\\u202e\\u2028b"


async def test_a_fault_is_outlined_without_its_message(
    database: Database, real_logs: pytest.CaptureFixture[str]
) -> None:
    @get("/boom", opt=open_to_all())
    async def boom() -> None:
        try:
            dict[str, str]()[CANARY]
        except KeyError as error:
            raise ValueError(CANARY) from error

    async with serving(create_app(database, Settings(env="test"), routes=[boom])) as http:
        assert (await http.get("/boom")).status_code == 500
    told = json.dumps(lines(real_logs))
    assert CANARY not in told
    assert "builtins.ValueError" in told
    assert "builtins.KeyError" in told
    assert " boom" in told


async def test_what_libraries_log_is_told_in_our_form_and_without_what_it_quotes(
    real_logs: pytest.CaptureFixture[str],
) -> None:
    try:
        int(CANARY)
    except ValueError:
        logging.getLogger("asyncpg.pool").warning("Failed to restore %s", CANARY, exc_info=True)

    async def unheard() -> None:
        raise ValueError(CANARY)

    task = asyncio.create_task(unheard())
    await asyncio.wait([task])
    del task
    gc.collect()
    restore, lost = lines(real_logs)
    assert (restore["library"], restore["says"]) == ("asyncpg.pool", "Failed to restore %s")
    assert (restore["level"], lost["library"]) == ("warning", "asyncio")
    assert "builtins.ValueError" in str(lost["fault"])
    assert CANARY not in json.dumps([restore, lost])


def test_an_outline_ends() -> None:
    error: BaseException = ValueError("0")
    for number in range(300):
        following = ValueError(str(number))
        following.__cause__ = error
        error = following
    assert len(outline(error)) <= 210

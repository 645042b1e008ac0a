"""Attachments on the way in: so many at once, in a bounded time, and said in one way."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from backend.api import blobs
from shared.vocabulary import Role
from tests.support.api import Api, problem

PNG = b"\x89PNG\r\n\x1a\n"
PATH = f"/v1/blobs/{hashlib.sha256(PNG).hexdigest()}"
AT_ONCE = 4


async def put(api: Api, data: Any = PNG) -> httpx.Response:
    headers = {**api.bearer(Role.PRODUCER), "content-type": "image/png"}
    return await api.http.put(PATH, content=data, headers=headers)


async def test_four_are_read_at_once_and_whoever_comes_then_is_told_to_wait(api: Api) -> None:
    begun, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield PNG[:2]
        begun.release()
        await go_on.wait()
        yield PNG[2:]

    sending = [asyncio.create_task(put(api, slowly())) for _ in range(AT_ONCE)]
    for _ in sending:
        await asyncio.wait_for(begun.acquire(), 10)
    refused = await asyncio.wait_for(put(api), 5)
    problem(refused, 503, "busy")
    assert int(refused.headers["retry-after"]) >= 1
    assert (await api.get("/v1/content/c-1/decision")).status_code == 404, "others are served"
    go_on.set()
    statuses = [response.status_code for response in await asyncio.gather(*sending)]
    assert sorted(statuses) == [200, 200, 200, 201]
    assert (await put(api)).status_code == 200


async def test_a_body_that_does_not_come_gives_its_place_back(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte now and then is no help: the time is for all of it."""
    monkeypatch.setattr(blobs, "LONGEST_UPLOAD", 0.3)

    async def endless() -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(0.05)
            yield b"a"

    for _ in range(2):
        slow = [asyncio.wait_for(put(api, endless()), 10) for _ in range(AT_ONCE)]
        for response in await asyncio.gather(*slow):
            assert "seconds" in problem(response, 400, "malformed")["detail"]
    assert (await put(api)).status_code == 201


@pytest.mark.parametrize("name", ["content-type", "content-encoding"])
async def test_what_a_body_is_is_said_once(api: Api, name: str) -> None:
    for method, path, kinds in (
        ("PUT", PATH, ("image/png", "text/plain")),
        ("PUT", PATH, ("image/png", "image/png")),
        ("POST", "/v1/content", ("application/json", "text/plain")),
        ("POST", "/v1/content:batch", ("application/json", "application/x-ndjson")),
    ):
        said = kinds if name == "content-type" else ("identity", "gzip")
        headers = [*api.bearer(Role.PRODUCER).items(), *((name, one) for one in said)]
        if name != "content-type":
            headers.append(("content-type", kinds[0]))
        refused = await api.http.request(method, path, content=PNG, headers=headers)
        problem(refused, 415, "unsupported_media_type")
        assert name in refused.json()["detail"]

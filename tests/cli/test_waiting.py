"""Waiting for work at a real server: news ends the wait, so does its stop, and nobody is leaked."""

from __future__ import annotations

import asyncio
import uuid

import httpx
import pytest

from shared.wire.queue import ClaimRequest
from tests.support.served import Served, served

WAIT = "/v1/available?wait_ms=30000"


async def waiting(server: Served, key: str) -> httpx.Response:
    bearer = {"authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=server.address, timeout=40, headers=bearer) as http:
        return await http.get(WAIT)


@pytest.mark.slow
async def test_those_who_wait_at_a_server_are_told_at_once_and_hold_up_no_stop() -> None:
    with served() as server:
        shop, anna = server.key("shop", "producer"), server.key("anna", "reviewer")
        told = [asyncio.create_task(waiting(server, anna)) for _ in range(20)]
        await asyncio.sleep(1.0)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        async with httpx.AsyncClient(base_url=server.address) as http:
            case = {"content_id": "k-1", "fields": {"amount": 3}}
            bearer = {"authorization": f"Bearer {shop}"}
            sent = await http.post("/v1/queues/cases/items", json=case, headers=bearer)
        assert sent.status_code == 201, sent.text
        answers = [answer.json()["queues"] for answer in await asyncio.gather(*told)]
        assert answers == [["cases"]] * 20
        assert loop.time() - begun < 5
        async with server.client(anna) as client:
            request = ClaimRequest(claim_key=str(uuid.uuid4()))
            assert (await client.claim("cases", request)).lease is not None
        left = asyncio.create_task(waiting(server, anna))
        stays = asyncio.create_task(waiting(server, anna))
        await asyncio.sleep(0.5)
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        code, seconds = await asyncio.to_thread(server.stop)
        assert (code, seconds < 4) == (0, True), (code, seconds)
        assert (await stays).json()["queues"] == []
        assert "request.fault" not in server.log()

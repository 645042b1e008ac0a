"""What is refused before there is a request: as a problem, within bounds, and not waited for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from backend.cli import http_protocol
from backend.cli.http_server import HttpServer, listen
from shared.problems import PROBLEM_MEDIA_TYPE

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with how much body there was."""
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message["body"])
        more = message["more_body"]
    body = str(size).encode()
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    listener = listen("127.0.0.1", 0, insecure=False)
    server = HttpServer(echo, asyncio.Event())
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await server.answering.wait()
    yield listener.getsockname()[1]
    server.should_exit = True
    await serving


async def answer_to(port: int, *pieces: bytes) -> bytes:
    """Send pieces until the other side has had enough; return all that it says."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
    except ConnectionError:
        pass
    try:
        async with asyncio.timeout(10):
            return await _all(reader)
    finally:
        writer.close()


async def _all(reader: asyncio.StreamReader) -> bytes:
    said = b""
    try:
        while piece := await reader.read(65536):
            said += piece
    except ConnectionError:
        pass
    return said


def problem(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert f"content-type: {PROBLEM_MEDIA_TYPE}".encode() in head
    assert b"x-request-id: " in head
    told: dict[str, Any] = json.loads(body)
    return told


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        GET + b"Name : x\r\n\r\n",
        GET + b"Name: a\x00b\r\n\r\n",
        GET + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /é HTTP/1.1\r\nHost: x\r\n\r\n".encode(),
    ],
)
async def test_what_is_no_http_is_refused_as_a_problem(
    port: int, sent: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    told = problem(await answer_to(port, sent))
    assert (told["status"], told["code"]) == (400, "malformed")
    assert "Invalid HTTP request" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET /", *[b"y" * 16_384] * 60],
        [GET, b"Name: ", *[b"y" * 16_384] * 60],
        [GET, *[b"Name: " + b"y" * 8_000 + b"\r\n"] * 120],
    ],
    ids=["address", "one header", "many headers"],
)
async def test_a_head_that_does_not_end_is_refused_and_not_kept(
    port: int, pieces: list[bytes]
) -> None:
    told = problem(await answer_to(port, *pieces))
    assert (told["status"], told["code"]) == (413, "too_large")


async def test_trailers_that_do_not_end_are_not_kept(port: int) -> None:
    head = POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head)
    with pytest.raises(ConnectionError):
        for _ in range(2_000):
            writer.write(b"Name: " + b"y" * 8_000 + b"\r\n")
            await writer.drain()
    assert not (await _all(reader)).startswith(b"HTTP/1.1 200")
    writer.close()


async def test_large_bodies_long_heads_and_pipelines_still_pass(port: int) -> None:
    large = POST + b"Connection: close\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000
    assert (await answer_to(port, large)).endswith(b"\r\n\r\n3000000")
    long = GET + b"Name: " + b"y" * 50_000 + b"\r\nConnection: close\r\n\r\n"
    assert (await answer_to(port, long)).endswith(b"\r\n\r\n0")
    last = GET + b"Connection: close\r\n\r\n"
    assert (await answer_to(port, (GET + b"\r\n") * 3_000 + last)).count(b"200 OK") == 3_001


async def test_another_protocol_is_not_spoken_and_not_complained_of(
    port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    said = await answer_to(port, GET + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 200")
    assert "pgrade" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "begun",
    [b"", b"GE", GET, b"\r\n", POST + b"Content-Length: 10\r\n\r\nabc"],
    ids=["nothing", "a word", "half a head", "an empty line", "half a body"],
)
async def test_nobody_is_waited_for_for_ever(
    port: int, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "PATIENCE", 0.3)
    assert await answer_to(port, begun) == b""

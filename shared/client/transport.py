"""One exchange over HTTP: bytes out, bytes in, and the three ways in which it can fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx
import msgspec

from shared.client.errors import Garbled, Refused, Unreachable
from shared.client.retry import asked_for
from shared.problems import Problem

LARGEST_ANSWER = 64 * 1024 * 1024
_PATIENCE, _CONNECT = 15.0, 5.0
_OK = range(200, 300)


class Exchange:
    """A connection pool to one server, with the key in a header and nowhere else.

    No proxy settings are taken from the environment and no redirect is followed: the key goes to
    the address that was given, or nowhere.
    """

    def __init__(
        self, base_url: str, key: str, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        _check_key(key)
        self._http = httpx.AsyncClient(
            base_url=_checked(base_url),
            headers={"authorization": f"Bearer {key}", "accept": "application/json"},
            transport=transport,
            timeout=_timeout(),
            trust_env=False,
            follow_redirects=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def call(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str] | None = None,
        patience: float = 0.0,
    ) -> tuple[bytes, httpx.Headers]:
        """Return body and headers of a 2xx answer; a body is JSON unless `headers` say otherwise.

        `patience` are seconds that the answer may take beyond the usual.
        Raises Unreachable, Refused or Garbled.
        """
        sent = {} if body is None else {"content-type": "application/json"}
        sent.update(headers or {})
        try:
            async with self._http.stream(
                method, path, content=body, headers=sent, timeout=_timeout(patience)
            ) as response:
                data = await _read(response)
        except httpx.TransportError as error:
            raise Unreachable(_plain(error)) from None
        if response.status_code in _OK:
            return data, response.headers
        raise _refusal(response, data)

    @asynccontextmanager
    async def opened(
        self, path: str, media_type: str, *, silence: float
    ) -> AsyncIterator[httpx.Response]:
        """Open an answer that goes on, to be read piece by piece inside the block.

        `silence` is how many seconds may pass between two pieces. Raises Unreachable, also for what
        happens while it is read, Refused or Garbled.
        """
        headers = {"accept": media_type, "accept-encoding": "identity"}
        patience = httpx.Timeout(15.0, connect=5.0, read=silence)
        try:
            async with self._http.stream("GET", path, headers=headers, timeout=patience) as answer:
                if answer.status_code not in _OK:
                    raise _refusal(answer, await _read(answer))
                found = answer.headers
                plain = found.get("content-encoding", "identity") == "identity"
                if not plain or not found.get("content-type", "").startswith(media_type):
                    raise Garbled(answer.status_code, "not the kind of answer that was asked for")
                yield answer
        except httpx.TransportError as error:
            raise Unreachable(_plain(error)) from None


def _timeout(patience: float = 0.0) -> httpx.Timeout:
    return httpx.Timeout(_PATIENCE, connect=_CONNECT, read=_PATIENCE + patience)


def _plain(error: httpx.TransportError) -> str:
    """Return in plain words why there was no answer."""
    if isinstance(error, httpx.TimeoutException):
        return "no answer from the server in time"
    if isinstance(error, httpx.ConnectError):
        return "no answer from the server; it can't be reached"
    return "no answer from the server; the connection broke"


async def _read(response: httpx.Response) -> bytes:
    data = bytearray()
    async for piece in response.aiter_bytes():
        data += piece
        if len(data) > LARGEST_ANSWER:
            raise Garbled(response.status_code, "larger than any answer of ours")
    return bytes(data)


def _refusal(response: httpx.Response, data: bytes) -> Refused | Garbled:
    try:
        problem = msgspec.json.decode(data, type=Problem)
    except msgspec.DecodeError:
        return Garbled(response.status_code, "not a problem of ours")
    return Refused(problem, asked_for(response.headers.get("retry-after")))


def _checked(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the server's address must begin with http:// or https:// and a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("the server's address may hold no user, query or fragment")
    return base_url.rstrip("/")


def _check_key(key: str) -> None:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("the key is not one of ours: it is empty or holds a space or other signs")

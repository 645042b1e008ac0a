"""What every call has in common: bytes that are repeated as they are, and an answer of one type."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlencode

import httpx
import msgspec

from shared.client.errors import ClientError, Garbled
from shared.client.retry import waits
from shared.client.transport import Exchange

T = TypeVar("T")
ATTEMPTS = 5
"""How often a repeatable call is tried before its error is raised: about 15 seconds in all."""


class Calls:
    """One server, one principal, and the rule by which a call is repeated.

    Raises ValueError for an address or key that can't be one; every call may raise
    `Unreachable`, `Refused` or `Garbled`. `transport` stands in for the network in tests.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._exchange = Exchange(base_url, key, transport)
        self._attempts = attempts
        self._sleep = sleep

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
        await self._exchange.close()

    async def _get(self, path: str, kind: type[T]) -> T:
        return await self._call("GET", path, None, kind)

    async def _post(self, path: str, body: Any, kind: type[T], attempts: int | None = None) -> T:
        return await self._call("POST", path, msgspec.json.encode(body), kind, attempts)

    async def _call(
        self, method: str, path: str, body: bytes | None, kind: type[T], attempts: int | None = None
    ) -> T:
        data, _ = await self._persist(method, path, body, attempts)
        return decoded(data, kind)

    async def _persist(
        self,
        method: str,
        path: str,
        body: bytes | None,
        attempts: int | None = None,
        headers: Mapping[str, str] | None = None,
        patience: float = 0.0,
    ) -> tuple[bytes, httpx.Headers]:
        """Repeat the same bytes until answered, refused for good, or out of attempts.

        `patience` is how many seconds the server was asked to take its time for an answer.
        """
        left = self._attempts if attempts is None else attempts
        for wait in waits():
            left -= 1
            try:
                return await self._exchange.call(method, path, body, headers, patience)
            except ClientError as error:
                if left <= 0 or not error.worth_retrying:
                    raise
                await self._sleep(max(wait, error.retry_after or 0.0))
        raise AssertionError("the waits never end")


def decoded(data: bytes, kind: type[T]) -> T:
    """Return an answer of this shape; raises Garbled for any other."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise Garbled(200, f"not a {kind.__name__} ({type(error).__name__})") from None


def part(name: str) -> str:
    """Return a name as one segment of a path."""
    return quote(name, safe="")


def asking(path: str, **wanted: str | int | list[str] | None) -> str:
    """Return `path` with what is wanted behind it; None is left out, a list is said one by one."""
    given = {name: value for name, value in wanted.items() if value is not None}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path

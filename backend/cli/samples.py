"""The demo's samples, of our own writing, and how they arrive: some at once, then a trickle."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from importlib.resources import files

import msgspec

from shared.client import FencepostClient
from shared.wire.content import Case, Submission

CASES = "cases"
"""The queue of the cases; posts go where the policy sends them."""
AT_ONCE = 0.6
"""The share that is there when the workstation opens."""


def posts(suffix: str = "") -> list[Submission]:
    """Return the sample posts; `suffix` is added to their ids, so that they can be sent anew."""
    return [
        msgspec.structs.replace(post, content_id=post.content_id + suffix)
        for post in (msgspec.json.decode(line, type=Submission) for line in _lines("posts"))
    ]


def cases(suffix: str = "") -> list[Case]:
    """Return the sample cases."""
    return [
        msgspec.structs.replace(case, content_id=case.content_id + suffix)
        for case in (msgspec.json.decode(line, type=Case) for line in _lines("cases"))
    ]


async def send_first(client: FencepostClient, some: Sequence[Submission | Case]) -> None:
    """Send many at once, the posts among them in one batch."""
    batch = [one for one in some if isinstance(one, Submission)]
    await client.submit_batch(batch)
    for one in some:
        if isinstance(one, Case):
            await client.submit_case(CASES, one)


async def send_rest(
    client: FencepostClient, rest: Sequence[Submission | Case], pause: float
) -> None:
    """Send the rest one by one, `pause` seconds apart."""
    for one in rest:
        await asyncio.sleep(pause)
        if isinstance(one, Case):
            await client.submit_case(CASES, one)
        else:
            await client.submit(one)


def split(
    all_posts: Sequence[Submission], all_cases: Sequence[Case]
) -> tuple[list[Submission | Case], list[Submission | Case]]:
    """Return what comes at once and what trickles in, the cases spread evenly among the posts."""
    first_posts, first_cases = int(len(all_posts) * AT_ONCE), int(len(all_cases) * AT_ONCE)
    first: list[Submission | Case] = [*all_posts[:first_posts], *all_cases[:first_cases]]
    late_posts, late_cases = all_posts[first_posts:], all_cases[first_cases:]
    every = max(1, len(late_posts) // max(1, len(late_cases)))
    rest: list[Submission | Case] = []
    waiting = list(late_cases)
    for place, post in enumerate(late_posts, start=1):
        rest.append(post)
        if waiting and place % every == 0:
            rest.append(waiting.pop(0))
    return first, [*rest, *waiting]


def _lines(name: str) -> Iterator[bytes]:
    data = files("backend").joinpath("samples", f"{name}.jsonl").read_bytes()
    return (line for line in data.split(b"\n") if line)

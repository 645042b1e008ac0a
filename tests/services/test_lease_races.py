"""Every deed on one lease at once: exactly one ends each token, and the log says which."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable
from typing import Any

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import StaleLease
from backend.services.redrive import redrive
from shared.vocabulary import Role
from shared.wire.queue import Lease
from tests.services.deeds import LAPSED, fetch_back, give_up, go_on_at, set_aside
from tests.support.desk import Desk
from tests.support.trail import assert_every_chain_is_whole

ITEMS = 8
TOKEN_BOUND = ("decide", "release", "park", "take_back", "take_over")
"""Deeds with the first token or epoch: whichever comes first makes it old for the rest."""
ENDS = ("release", "take_back", "park", "escalate", "move", "withdraw")
HOW_TOKENS_ENDED = """
SELECT g.token::text,
  (SELECT count(*) FROM lease_log e WHERE e.item_id = g.item_id AND e.lease_epoch = g.lease_epoch
    AND e.happening = ANY ($1::text[]))
  + (SELECT count(*) FROM lease_log o WHERE o.item_id = g.item_id AND o.happening = 'take_over'
    AND o.lease_epoch = g.lease_epoch + 1)
  + (SELECT count(*) FROM lease_log o WHERE o.item_id = g.item_id AND o.happening = 'grant'
    AND o.lease_epoch = g.lease_epoch + 1)
  + (SELECT count(*) FROM decision d WHERE d.lease_token = g.token)
  + (SELECT count(*) FROM item i WHERE i.fence_token = g.token) AS ends
FROM lease_log g WHERE g.token IS NOT NULL
"""


async def sometime(deed: Awaitable[Any]) -> Any:
    """Begin within a moment, so that not always the shortest deed comes first."""
    await asyncio.sleep(random.uniform(0, 0.05))
    return await deed


async def meet(desk: Desk, who: Identity, lead: Identity, lease: Lease) -> Counter[str]:
    """Do all that can be done with one lease at once; count how it went."""
    deeds: dict[str, Any] = {
        "decide": desk.decide(who, lease),
        "release": give_up(desk, who, lease),
        "park": set_aside(desk, who, lease),
        "take_back": fetch_back(desk, lead, lease),
        "take_over": go_on_at(desk, who),
        "redrive": redrive(desk.db),
    }
    done = await asyncio.gather(*map(sometime, deeds.values()), return_exceptions=True)
    well: Counter[str] = Counter()
    for word, came in zip(deeds, done, strict=True):
        # No lease to take over is an answer too: the helper asserts that there is one.
        assert not isinstance(came, BaseException) or isinstance(
            came, (StaleLease, AssertionError)
        ), (word, came)
        well[word] += not isinstance(came, BaseException)
    return well


@pytest.mark.parametrize("lapsed", [False, True])
async def test_of_all_deeds_on_one_lease_exactly_one_ends_its_token(
    desk: Desk, lapsed: bool
) -> None:
    lead = await desk.person("lea", Role.LEAD)
    people = [await desk.person(f"p{number}") for number in range(ITEMS)]
    for number in range(ITEMS):
        await desk.item(f"c-{number}")
    leases = [await desk.lease(who) for who in people]
    if lapsed:
        await desk.pass_time(LAPSED)
    went = await asyncio.gather(
        *(meet(desk, who, lead, lease) for who, lease in zip(people, leases, strict=True))
    )
    for well in went:
        assert sum(well[deed] for deed in TOKEN_BOUND) == 1, well
    for row in await desk.admin.fetch(HOW_TOKENS_ENDED, list(ENDS)):
        assert row["ends"] == 1, row
    await assert_every_chain_is_whole(desk.admin)

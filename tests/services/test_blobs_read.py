"""Who reads an attachment: the holder of what shows it, or somebody on record; nobody else."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from backend.domain.refusals import (
    Forbidden,
    InvalidField,
    NotFound,
    StaleLease,
)
from backend.services import blobs
from backend.services.blobs import read_audited, read_leased
from shared.vocabulary import Role
from tests.services.deeds import LAPSED, give_up, stranger
from tests.services.showings import (
    PNG,
    digest_of,
    picture,
    revised,
    shop,
    submitted,
)
from tests.support.desk import Desk, new_key
from tests.support.trail import assert_every_chain_is_whole

OTHER = b"other bytes"


# Reading with a lease


async def test_the_holder_of_an_item_reads_what_it_shows_now_and_nothing_else(desk: Desk) -> None:
    who, ana = await shop(desk), await desk.person("ana")
    first, second = await picture(desk, who), await picture(desk, who, OTHER)
    await submitted(desk, attachments=[first])
    await submitted(desk, "c-2", labels={"spam": 0.5}, attachments=[second])
    lease = await desk.lease(ana)

    async def read(digest: str, token: str = lease.lease_token, item: str = lease.item_id) -> bytes:
        return (await read_leased(desk.db, desk.policy, ana, item, token, digest)).data

    assert await read(first) == PNG
    for digest in (second, digest_of(b"never sent"), "x", first.upper()):
        with pytest.raises(NotFound):
            await read(digest)
    await revised(desk, who, text="two", attachments=[second])
    assert await read(second) == OTHER
    with pytest.raises(NotFound):  # of an old revision
        await read(first)
    with pytest.raises(StaleLease):  # of another item
        await read(second, item="2")
    with pytest.raises(StaleLease):
        await read(second, token=new_key())
    for bad in ("", "x", "0" * 36, lease.lease_token.upper()):
        with pytest.raises(InvalidField) as refused:
            await read(second, token=bad)
        assert refused.value.field == "fencepost-lease-token"


async def test_only_the_live_holder_reads(desk: Desk) -> None:
    who, ana, ben = await shop(desk), await desk.person("ana"), await desk.person("ben")
    digest = await picture(desk, who)
    await submitted(desk, attachments=[digest])
    lease = await desk.lease(ana)

    async def read(reader: Any) -> bytes:
        found = await read_leased(
            desk.db, desk.policy, reader, lease.item_id, lease.lease_token, digest
        )
        return found.data

    with pytest.raises(StaleLease) as stale:
        await read(ben)
    assert "now" not in stale.value.extra
    with pytest.raises((StaleLease, NotFound)):
        await read(await stranger(desk, Role.REVIEWER))
    with pytest.raises(Forbidden):
        await read(msgspec.structs.replace(ana, grants=()))
    assert await read(ana) == PNG
    await desk.pass_time(LAPSED)
    with pytest.raises(StaleLease):
        await read(ana)


async def test_a_token_that_rotated_reads_nothing(desk: Desk) -> None:
    who, ana = await shop(desk), await desk.person("ana")
    digest = await picture(desk, who)
    await submitted(desk, attachments=[digest])
    lease = await desk.lease(ana)
    await give_up(desk, ana, lease)
    with pytest.raises(StaleLease):
        await read_leased(desk.db, desk.policy, ana, lease.item_id, lease.lease_token, digest)


async def test_a_lease_ends_for_its_attachments_at_the_very_moment_it_ends(desk: Desk) -> None:
    who, ana = await shop(desk), await desk.person("ana")
    digest = await picture(desk, who)
    await submitted(desk, attachments=[digest])
    lease = await desk.lease(ana)
    await desk.admin.execute("SET ROLE fencepost_owner")
    await desk.admin.execute(
        "CREATE OR REPLACE FUNCTION clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS"
        " $$ SELECT timestamptz '2030-01-01T12:00:00Z' $$"
    )
    await desk.admin.execute("RESET ROLE")
    ends = "UPDATE item SET lease_expires = clock() + $1"
    await desk.admin.execute(ends, timedelta(microseconds=1))
    await read_leased(desk.db, desk.policy, ana, lease.item_id, lease.lease_token, digest)
    await desk.admin.execute(ends, timedelta(0))
    with pytest.raises(StaleLease):
        await read_leased(desk.db, desk.policy, ana, lease.item_id, lease.lease_token, digest)


async def test_erased_bytes_are_read_by_nobody(desk: Desk) -> None:
    who, ana = await shop(desk), await desk.person("ana")
    digest = await picture(desk, who)
    await submitted(desk, attachments=[digest])
    lease = await desk.lease(ana)
    await desk.admin.execute("UPDATE blob SET bytes = NULL, erased_at = clock()")
    with pytest.raises(NotFound):
        await read_leased(desk.db, desk.policy, ana, lease.item_id, lease.lease_token, digest)
    lead = await desk.person("lead", Role.LEAD)
    with pytest.raises(NotFound):
        await read_audited(desk.db, desk.policy, lead, "c-1", digest)


# Reading in the open


async def views(desk: Desk) -> list[dict[str, Any]]:
    rows = await desk.admin.fetch(
        "SELECT convert_from(canonical, 'UTF8') AS told FROM event WHERE type = 'evidence.viewed'"
    )
    return [json.loads(row["told"]) for row in rows]


async def test_whoever_leads_or_audits_reads_once_the_trail_says_so(desk: Desk) -> None:
    who = await shop(desk)
    digest = await picture(desk, who)
    await submitted(desk, attachments=[digest])
    await revised(desk, who, text="two")  # it is shown no more, but was
    lead = await desk.person("lead", Role.LEAD)
    auditor = await desk.person("auditor", Role.AUDITOR)
    for number, reader in enumerate((lead, auditor, lead), 1):
        found = await read_audited(desk.db, desk.policy, reader, "c-1", digest)
        assert (found.data, found.media_type) == (PNG, "image/png")
        told = await views(desk)
        assert len(told) == number
        assert told[-1]["principal"] == str(reader.principal_id)
        assert told[-1]["data"] == {"attachment": digest, "key": reader.key_id}
    await assert_every_chain_is_whole(desk.admin)


async def test_a_look_that_can_not_be_recorded_is_not_had(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, lead = await shop(desk), await desk.person("lead", Role.LEAD)
    digest = await picture(desk, who)
    await submitted(desk, attachments=[digest])

    async def fail(*_: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(blobs, "insert_events", fail)
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever it is, there are no bytes
        await read_audited(desk.db, desk.policy, lead, "c-1", digest)


async def test_nobody_reads_what_is_not_his_to_audit(desk: Desk) -> None:
    who = await shop(desk)
    digest, other = await picture(desk, who), await picture(desk, who, OTHER)
    await submitted(desk, attachments=[digest])
    lead = await desk.person("lead", Role.LEAD)
    for content, sha256 in (("c-1", other), ("c-2", digest), ("no id", digest), ("c-1", "x")):
        with pytest.raises(NotFound):
            await read_audited(desk.db, desk.policy, lead, content, sha256)
    with pytest.raises(NotFound):
        await read_audited(desk.db, desk.policy, await stranger(desk), "c-1", digest)
    elsewhere = await desk.person("elsewhere", Role.LEAD, queue="cases")
    with pytest.raises(Forbidden):
        await read_audited(desk.db, desk.policy, elsewhere, "c-1", digest)
    assert await views(desk) == []

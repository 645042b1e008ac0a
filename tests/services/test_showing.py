"""Evidence that is made up for: of a content that nobody had to look at until now."""

from __future__ import annotations

import pytest

from backend.domain.refusals import NotReopenable
from backend.services.showing import ensure_evidence
from shared.evidence import open_evidence
from shared.vocabulary import Band
from tests.services.showings import picture, revised, shop, submitted
from tests.support.desk import Desk


async def ensured(desk: Desk) -> tuple[int, str, str]:
    """Make evidence up and return its revision, its text and its hash."""
    content = await desk.value("SELECT id FROM content")
    async with desk.db.transaction() as conn:
        await conn.fetch("SELECT FROM content WHERE id = $1 FOR NO KEY UPDATE", content)
        revision = await ensure_evidence(conn, desk.policy, content)
    row = await desk.admin.fetchrow(
        "SELECT convert_from(bytes, 'UTF8') AS text, encode(hash, 'hex') AS hash FROM evidence"
        " WHERE revision = $1",
        revision,
    )
    assert row is not None
    return revision, row["text"], row["hash"]


async def test_evidence_is_made_up_from_what_was_submitted_and_scored(desk: Desk) -> None:
    who = await shop(desk)
    digest = await picture(desk, who)
    await submitted(
        desk,
        labels={"hate": 0.99},
        text="words",
        fields={"a": [1, None, True, {"b": "c"}]},
        lang="de",
        author_id="u-1",
        created_at="2026-03-29T02:30:00.123456+01:00",
        model_version="m-1",
        attachments=[digest],
    )
    assert await desk.value("SELECT count(*) FROM evidence") == 0
    revision, text, digest_shown = await ensured(desk)
    shown = open_evidence(text, digest_shown)
    assert (revision, shown.revision) == (1, 1)
    content = shown.content
    assert (content.content_id, content.kind, content.lang) == ("c-1", "post", "de")
    assert (content.text, content.author_id) == ("words", "u-1")
    assert content.fields == {"a": [1, None, True, {"b": "c"}]}
    assert content.created_at == "2026-03-29T01:30:00.123456Z"
    assert shown.attachments == (digest,)
    assert shown.model_version == "m-1"
    assert shown.deciding == "hate"
    assert {label.category: (label.score, label.band) for label in shown.labels}["hate"] == (
        "0.99",
        Band.BLOCK,
    )


async def test_what_is_there_is_not_made_again(desk: Desk) -> None:
    await submitted(desk, labels={})
    first = await ensured(desk)
    assert await ensured(desk) == first
    assert await desk.value("SELECT count(*) FROM evidence") == 1


async def test_a_revision_has_its_evidence(desk: Desk) -> None:
    who = await submitted(desk, labels={})
    await revised(desk, who, labels={"spam": 0.02})
    revision, text, digest = await ensured(desk)
    assert revision == 2
    assert open_evidence(text, digest).content.text == "two"


async def test_of_an_erased_body_nothing_is_made_up(desk: Desk) -> None:
    await submitted(desk, labels={})
    await desk.admin.execute(
        "UPDATE payload SET body = NULL, nonce = NULL, fingerprint = NULL, erased_at = clock()"
    )
    with pytest.raises(NotReopenable):
        await ensured(desk)

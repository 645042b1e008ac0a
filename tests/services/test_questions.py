"""Who reads what was asked about a content, and page by page."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, InvalidField, NotFound
from backend.services.questions import questions
from backend.services.redrive import redrive
from shared.vocabulary import ParkReason, Role
from shared.wire.item import QUESTIONS_LIMIT
from tests.services.deeds import asked_about, set_aside
from tests.services.showings import submitted
from tests.support.desk import QUEUE, Desk

HOUR = timedelta(hours=1)


async def parked_with_a_question(desk: Desk) -> Identity:
    """Have something asked about a content, and return who submitted it."""
    producer = await submitted(desk)
    ana = await desk.person("ana")
    await set_aside(desk, ana, await desk.lease(ana), question="whose bus?")
    return producer


@pytest.mark.parametrize("role", [Role.PRODUCER, Role.LEAD, Role.AUDITOR])
async def test_a_question_is_for_the_roles_of_its_queue(desk: Desk, role: Role) -> None:
    await parked_with_a_question(desk)
    for number, queue in enumerate((QUEUE, None)):
        reader = await desk.person(f"here-{number}", role, queue=queue)
        (asked,) = (await questions(desk.db, reader, "c-1")).questions
        assert asked.text == "whose bus?"
    other = await desk.person("other", role, queue="cases")
    with pytest.raises(Forbidden) as refused:
        await questions(desk.db, other, "c-1")
    assert refused.value.field == "content_id"


async def test_who_submitted_it_reads_it_wherever_it_went(desk: Desk) -> None:
    shop = await desk.person("shop", Role.PRODUCER, queue="cases")
    await desk.item(submitted_by=shop.principal_id)
    ana = await desk.person("ana")
    await set_aside(desk, ana, await desk.lease(ana), question="whose bus?")
    assert len((await questions(desk.db, shop, "c-1")).questions) == 1
    with pytest.raises(Forbidden):
        await questions(desk.db, ana, "c-1")


async def test_every_question_is_met_once_page_by_page(desk: Desk) -> None:
    producer = await parked_with_a_question(desk)
    await desk.admin.execute(
        "INSERT INTO question (item_id, content_id, principal_id, reason, text, wake_at)"
        " SELECT item_id, content_id, principal_id, reason, 'no ' || n, wake_at"
        " FROM question, generate_series(1, $1::int) AS n ORDER BY n",
        2 * QUESTIONS_LIMIT - 1,
    )
    met, after, pages = [], None, 0
    while pages == 0 or after is not None:
        page = await questions(desk.db, producer, "c-1", after)
        met += [each.text for each in page.questions]
        after, pages = page.after, pages + 1
    newest_first = [f"no {number}" for number in range(2 * QUESTIONS_LIMIT - 1, 0, -1)]
    assert met == [*newest_first, "whose bus?"]
    assert pages == 2
    with pytest.raises(InvalidField) as refused:
        await questions(desk.db, producer, "c-1", "x")
    assert refused.value.field == "after"


async def test_who_parks_without_a_question_leaves_one_without_words(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await set_aside(desk, ana, await desk.lease(ana), reason=ParkReason.AWAIT_DATE)
    (asked,) = (await asked_about(desk, ana, "c-1")).questions
    assert (asked.text, asked.reason) == (None, ParkReason.AWAIT_DATE)


async def test_only_the_newest_question_is_open_and_none_once_the_item_is_back(
    desk: Desk,
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    for text in ("first", "second"):
        until = await desk.value("SELECT clock()") + HOUR
        await set_aside(desk, ana, await desk.lease(ana), question=text, until=until)
        if text == "first":
            await desk.pass_time(HOUR)
            await redrive(desk.db)
    told = (await asked_about(desk, ana, "c-1")).questions
    assert [(each.text, each.open) for each in told] == [("second", True), ("first", False)]
    await desk.pass_time(HOUR)
    await redrive(desk.db)
    assert not any(each.open for each in (await asked_about(desk, ana, "c-1")).questions)


@pytest.mark.parametrize("content_id", ["c-2", "", "\x00", "x" * 65])
async def test_there_are_no_questions_about_what_was_never_submitted(
    desk: Desk, content_id: str
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    assert (await asked_about(desk, ana, "c-1")).questions == ()
    with pytest.raises(NotFound):
        await asked_about(desk, ana, content_id)

"""Queues that were renamed or drain, as producers and reviewers meet them over HTTP."""

from __future__ import annotations

import json
import uuid

from backend.db.connection import Database
from backend.services.policies import activate
from shared.vocabulary import Role
from tests.support.api import NDJSON, Api, api_of, problem
from tests.support.gateway import body, standard
from tests.support.office import DRAINED, RENAMED


async def test_whoever_says_an_old_name_gets_the_queue_that_took_its_place(
    database: Database,
) -> None:
    await standard(database)
    await activate(database, 1, RENAMED)
    async with api_of(database) as later:  # a process that knows the new policy from the start
        case = b'{"content_id":"c-1","text":"An account"}'
        sent = await later.post("/v1/queues/cases/items", case)
        assert (sent.status_code, sent.json()["queue"]) == (201, "files")
        unsure = body("c-2", {"hate": 0.5}, queue="cases")
        assert (await later.post("/v1/content", unsure)).json()["queue"] == "files"
        view = await later.get("/v1/queues/cases", role=Role.REVIEWER)
        assert (view.status_code, view.json()["queue"]) == (200, "files")
        claim = json.dumps({"claim_key": str(uuid.uuid4())}).encode()
        got = await later.post("/v1/queues/cases/claim", claim, role=Role.REVIEWER)
        assert got.json()["lease"]["queue"] == "files"
        problem(await later.post("/v1/queues/nope/items", case), 404, "not_found", "queue")


async def test_a_list_asked_for_by_an_old_name_is_that_of_the_queue_of_today(
    database: Database,
) -> None:
    await standard(database)
    await activate(database, 1, RENAMED)
    async with api_of(database) as later:
        for number in range(3):
            case = b'{"content_id":"c-%d","text":"An account"}' % number
            await later.post("/v1/queues/files/items", case)
        first = await later.get("/v1/queues/cases/items?limit=2", role=Role.LEAD)
        page = first.json()
        assert [(row["content_id"], row["queue"]) for row in page["items"]] == [
            ("c-0", "files"),
            ("c-1", "files"),
        ]
        # The cursor is the queue's, whichever of its names the next page is asked for by.
        for name in ("cases", "files"):
            path = f"/v1/queues/{name}/items?limit=2&after={page['after']}"
            last = (await later.get(path, role=Role.LEAD)).json()
            assert ([row["content_id"] for row in last["items"]], last["after"]) == (["c-2"], None)
        problem(await later.get("/v1/queues/nope/items", role=Role.LEAD), 404, "not_found", "queue")


async def test_a_queue_that_drains_says_so(api: Api, database: Database) -> None:
    case = b'{"content_id":"c-1","text":"An account"}'
    assert (await api.post("/v1/queues/cases/items", case)).status_code == 201
    await activate(database, 1, DRAINED)
    async with api_of(database) as later:
        known = await later.post("/v1/queues/cases/items", case)
        assert (known.status_code, known.json()["created"]) == (200, False)
        other = b'{"content_id":"c-2","text":"An account"}'
        told = problem(
            await later.post("/v1/queues/cases/items", other), 409, "queue_draining", "queue"
        )
        assert told["extra"] == {"queue": "cases"}
        unsure = body("c-2", {"hate": 0.5}, queue="cases")
        problem(await later.post("/v1/content", unsure), 409, "queue_draining", "queue")
        rows = b"\n".join([unsure, body("c-3", {"hate": 0.5})])
        batch = (await later.post("/v1/content:batch", rows, headers=NDJSON)).json()
        assert [row["receipt"] is None for row in batch["rows"]] == [True, False]
        assert batch["rows"][0]["problem"]["code"] == "queue_draining"
        claim = json.dumps({"claim_key": str(uuid.uuid4())}).encode()
        got = await later.post("/v1/queues/cases/claim", claim, role=Role.REVIEWER)
        assert got.json()["lease"]["content_id"] == "c-1"

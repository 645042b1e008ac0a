"""What reviewers ask of producers; the answer is a revision of the evidence."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from backend.api.access import needs
from backend.api.desk import Desk
from backend.api.items_list import After
from backend.api.queries import said_once
from backend.services.questions import questions
from backend.services.steady import steadily
from shared.vocabulary import Role
from shared.wire.item import Questions


class QuestionController(Controller):
    """`/v1/content/{content_id}/questions`."""

    tags = ("content",)

    @get(
        "/v1/content/{content_id:str}/questions",
        opt=needs(Role.PRODUCER, Role.LEAD, Role.AUDITOR),
        summary="What reviewers asked about a content",
    )
    async def questions(
        self,
        request: Request[Any, Any, Any],
        content_id: FromPath[str],
        desk: NamedDependency[Desk],
        after: After = None,
    ) -> Questions:
        """Return the questions of a content, newest first, a hundred a page.

        For who submitted it, and for producers, leads and auditors of its queue.
        """
        said_once(request, "after")
        return await steadily(lambda: questions(desk.db, desk.who, content_id, after))

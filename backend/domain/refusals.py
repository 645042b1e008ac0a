"""Every way in which the house says no, drawn before the code that says it.

One class a `ProblemCode`, and the class fixes code, HTTP status and title. An instance adds what to
do now (`detail`), the path of the value at fault (`field`) and facts of the case (`extra`). None of
them ever repeats what was sent: a refusal ends up in logs, on terminals and with third parties.
"""

from __future__ import annotations

from typing import Any, ClassVar

from shared.problems import Problem, ProblemCode, problem_type


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not an error
    """A request that was understood and not granted; nothing was changed."""

    code: ClassVar[ProblemCode] = ProblemCode.INTERNAL
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Something went wrong here; nothing was changed."

    def __init__(self, detail: str = "", *, field: str = "", **extra: Any) -> None:
        super().__init__(detail or self.title)
        self.detail = detail
        self.field = field
        self.extra = extra

    def problem(self, request_id: str = "") -> Problem:
        """Return this refusal as it crosses the wire."""
        return Problem(
            code=self.code,
            status=self.status,
            title=self.title,
            type=problem_type(self.code),
            detail=self.detail,
            field=self.field,
            request_id=request_id,
            extra=self.extra,
        )


class Malformed(Refusal):
    """The bytes are no JSON that can be read."""

    code = ProblemCode.MALFORMED
    status = 400
    title = "The body is not well-formed JSON."


class InvalidField(Refusal):
    """One value breaks a rule; `field` names it."""

    code = ProblemCode.INVALID_FIELD
    status = 422
    title = "A field is not acceptable."


class DuplicateKey(Refusal):
    """One object names a member twice, so readers could disagree on what was said."""

    code = ProblemCode.DUPLICATE_KEY
    status = 422
    title = "An object has the same key twice."


class TooLarge(Refusal):
    """The request as a whole is beyond a stated size."""

    code = ProblemCode.TOO_LARGE
    status = 413
    title = "The request is too large."


class UnsupportedMediaType(Refusal):
    """The body is of a kind that this route does not read."""

    code = ProblemCode.UNSUPPORTED_MEDIA_TYPE
    status = 415
    title = "This kind of body is not accepted here."


class MethodNotAllowed(Refusal):
    """The path exists, the method does not."""

    code = ProblemCode.METHOD_NOT_ALLOWED
    status = 405
    title = "This method is not allowed here."


class Unauthenticated(Refusal):
    """No key, or none that is known; which of the two is not said."""

    code = ProblemCode.UNAUTHENTICATED
    status = 401
    title = "A valid key is needed."


class Forbidden(Refusal):
    """The principal is known and lacks the role or the queue."""

    code = ProblemCode.FORBIDDEN
    status = 403
    title = "This is not yours to do."


class WrongOwner(Refusal):
    """The lease belongs to somebody else; nothing of his work is told."""

    code = ProblemCode.WRONG_OWNER
    status = 403
    title = "Somebody else holds this item."


class NotFound(Refusal):
    """There is no such thing, or none that the principal may know of."""

    code = ProblemCode.NOT_FOUND
    status = 404
    title = "There is no such thing."


class StaleLease(Refusal):
    """The lease token is no longer the item's fence; `extra` says what is true now."""

    code = ProblemCode.STALE_LEASE
    status = 409
    title = "The lease is no longer yours; nothing was changed."


class LeaseHeld(Refusal):
    """The principal holds another lease already."""

    code = ProblemCode.LEASE_HELD
    status = 409
    title = "You hold another item."


class EvidenceChanged(Refusal):
    """What was shown is not what the item holds now."""

    code = ProblemCode.EVIDENCE_CHANGED
    status = 409
    title = "The evidence changed since it was shown; nothing was changed."


class VerdictConflict(Refusal):
    """The verdict token was used before, for another verdict."""

    code = ProblemCode.VERDICT_CONFLICT
    status = 409
    title = "This verdict token has recorded another verdict."


class ReasonNotAdmitted(Refusal):
    """The queue does not offer the verdict, or the verdict does not admit the reason."""

    code = ProblemCode.REASON_NOT_ADMITTED
    status = 409
    title = "This queue does not admit that verdict with that reason."


class ContentExists(Refusal):
    """The id is taken by a content of another nature."""

    code = ProblemCode.CONTENT_EXISTS
    status = 409
    title = "A content with this id exists."


class NoOpenItem(Refusal):
    """Nothing of this content is before people, or nothing that may be withdrawn."""

    code = ProblemCode.NO_OPEN_ITEM
    status = 409
    title = "There is no open item of this content to do that with."


class NotReopenable(Refusal):
    """A new round can't be opened: one is open, or an appeal has decided."""

    code = ProblemCode.NOT_REOPENABLE
    status = 409
    title = "No new round can be opened for this content."


class QueueDraining(Refusal):
    """The queue takes nothing new; what is in it is worked off."""

    code = ProblemCode.QUEUE_DRAINING
    status = 409
    title = "This queue takes no new items."


class Busy(Refusal):
    """Not now: a pool, a queue or a limit is full; `retry_after_ms` says when."""

    code = ProblemCode.BUSY
    status = 503
    title = "Too busy at the moment; nothing was changed."


class OutcomeUnknown(Refusal):
    """The connection broke at commit: it may or may not have happened."""

    code = ProblemCode.OUTCOME_UNKNOWN
    status = 503
    title = "The outcome is unknown; send the same request with the same token again."


class Internal(Refusal):
    """A fault of ours."""

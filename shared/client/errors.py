"""What can go wrong between a client and the server, three ways and no more.

    ClientError
    ├── Unreachable   no answer came: whether the request was carried out is unknown
    ├── Refused       the server answered no, with a problem and its code
    └── Garbled       an answer came that is not one of ours: carried out or not, unknown

No message holds a key, a token or a body.
"""

from __future__ import annotations

from shared.problems import Problem, ProblemCode

_PASSING = frozenset({ProblemCode.BUSY, ProblemCode.OUTCOME_UNKNOWN, ProblemCode.INTERNAL})


class ClientError(Exception):
    """Any failure of a call; `worth_retrying` tells whether the same call may succeed later."""

    worth_retrying = False
    retry_after: float | None = None
    """Seconds the server asks to wait, if it does."""


class Unreachable(ClientError):  # noqa: N818  (a word of the wire)
    """No answer: refused, reset, timed out, no such host."""

    worth_retrying = True


class Refused(ClientError):  # noqa: N818  (a word of the wire)
    """The server's own refusal."""

    def __init__(self, problem: Problem, retry_after: float | None = None) -> None:
        super().__init__(f"{problem.code}: {problem.title}")
        self.problem = problem
        self.retry_after = retry_after
        self.worth_retrying = problem.code in _PASSING or problem.status in (429, 502, 503, 504)

    @property
    def code(self) -> ProblemCode:
        """The code to branch on."""
        return self.problem.code


class Garbled(ClientError):  # noqa: N818  (a word of the wire)
    """An answer that can't be read: a proxy's page, a cut body, another version's shape."""

    worth_retrying = True

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"unreadable answer with status {status}: {why}")
        self.status = status

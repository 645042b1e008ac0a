"""`fencepost review` and `fencepost lead`: hand over to the terminal's own program.

By exec, never by import: the terminal is its own process from the start, and knows the server only
by HTTP.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

from cyclopts import App, Parameter

Rest = Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]

review = App(name="review", help_flags=[])
lead = App(name="lead", help_flags=[])


@review.default
def _review(*arguments: Rest) -> NoReturn:
    """Open the reviewer's workstation. Its options: fencepost review --help."""
    hand_over("review", arguments)


@lead.default
def _lead(*arguments: Rest) -> NoReturn:
    """Open the lead's cockpit. Its options: fencepost lead --help."""
    hand_over("lead", arguments)


def command_line(view: str, arguments: tuple[str, ...] | list[str]) -> list[str]:
    """Return what to execute for a view; -P, so that no module of the current folder is taken."""
    return [sys.executable, "-P", "-m", "tui", view, *arguments]


def hand_over(view: str, arguments: tuple[str, ...]) -> NoReturn:
    """Become the terminal's program."""
    sys.stdout.flush()
    command = command_line(view, arguments)
    os.execv(command[0], command)  # noqa: S606 - our own interpreter, no shell is meant

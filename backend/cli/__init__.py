"""The command line: it composes the house and starts it.

Nothing heavy is imported before a command needs it, so `--version` and `--help` answer at once.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import NoReturn


def main() -> NoReturn:
    """Run the command that the arguments name, and end with its exit code."""
    _hold_standard_streams()
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"fencepost {version('fencepost')}\n")
        sys.exit(0)
    from backend.cli.app import run  # --version answers without it

    sys.exit(run(arguments))


def _hold_standard_streams() -> None:
    """Put something in the place of a standard stream that whoever started us has closed.

    Else the next socket or file takes its number, and what is written for the user goes there.
    """
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != fd:
                os.dup2(nothing, fd)
                os.close(nothing)
            os.set_inheritable(fd, True)  # as a standard stream is
            setattr(sys, name, os.fdopen(fd, mode, encoding="utf-8", closefd=False))

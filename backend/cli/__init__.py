"""The command line: it composes the house and starts it.

Nothing heavy is imported before a command needs it, so `--version` and `--help` answer at once.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import NoReturn


def main() -> NoReturn:
    """Run the command that the arguments name, and end with its exit code."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"fencepost {version('fencepost')}\n")
        sys.exit(0)
    from backend.cli.app import run  # --version answers without it

    sys.exit(run(arguments))

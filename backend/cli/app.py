"""The commands by name. A command's module is imported when it is used, and not before."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from cyclopts import App, CycloptsError, Group, UnknownCommandError

from backend.cli.failure import explain

_HELP = """\
A human review queue: producers send content, an engine bands its scores under a \
versioned policy, and what is ambiguous goes to people, one lease at a time.

Begin with: fencepost demo
"""

_COMMANDS = {
    "Try it": {
        "demo": ("demo", "The whole product on samples: a server, a queue, the workstation."),
    },
    "Work": {
        "review": ("workstation", "Open the reviewer's workstation."),
        "lead": ("workstation", "Open the lead's cockpit: the health of every queue."),
        "submit": ("submit", "Send a file of contents, one JSON object a line."),
    },
    "Operate": {
        "serve": ("serve", "Run the API and its workers; by default on a database of its own."),
        "key": ("keys", "Make, list and revoke keys."),
        "policy": ("policies", "Show, check and activate policies."),
        "bootstrap": ("setup", "Make database, roles and schema in a PostgreSQL of yours."),
        "migrate": ("setup", "Bring the schema forward, or show where it stands."),
    },
}
_NAMES = [name for commands in _COMMANDS.values() for name in commands]


def make_app(chosen: str | None = None) -> App:
    """Return the command line with the chosen command loaded, and none of the others."""
    app = App(
        name="fencepost",
        help=_HELP,
        help_format="markdown",
        version_flags=[],
        print_error=False,
        exit_on_error=False,
        result_action="return_value",
    )
    place = 0
    for title, commands in _COMMANDS.items():
        group = Group.create_ordered(title)
        for name, (module, text) in commands.items():
            place += 1
            path = f"backend.cli.{module}"
            if name != chosen:
                app.command(f"{path}:{name}", name=name, help=text, group=group, sort_key=place)
            elif isinstance(command := getattr(import_module(path), name), App):
                app.command(command)
            else:
                app.command(command, name=name)
    app["--help"].group = (Group.create_ordered("Options"),)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code: 0, 1 failed, 2 misused, 130 interrupted."""
    first = arguments[0] if arguments else "--help"
    if not first.startswith("-") and first not in _NAMES:
        close = difflib.get_close_matches(first, _NAMES, n=1)
        meant = f"Did you mean {close[0]}? " if close else ""
        return _complain(f"there is no command {first!r}. {meant}See: fencepost --help", 2)
    try:
        make_app(first)(list(arguments))
    except CycloptsError as error:
        return _complain(_usage(error), 2)
    except KeyboardInterrupt:
        return _complain("stopped.", 130)
    except BrokenPipeError:
        return _end_quietly()
    except Exception as error:
        failure = explain(error)
        if failure is None:
            raise
        return _complain(failure.line, failure.code)
    return 0


def _usage(error: CycloptsError) -> str:
    line = " ".join(str(error).split()).rstrip(".")
    chain = [] if isinstance(error, UnknownCommandError) else list(error.command_chain or ())
    ending = "" if line.endswith("?") else "."
    return f"{line}{ending} See: {' '.join(['fencepost', *chain, '--help'])}"


def _complain(line: str, code: int) -> int:
    with contextlib.suppress(BrokenPipeError):
        sys.stderr.write(f"fencepost: {line}\n")
        sys.stderr.flush()
    return code


def _end_quietly() -> int:
    """Keep the interpreter from complaining at its exit that the reader of our output is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1

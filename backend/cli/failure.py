"""What the command line says when something can't be done: one clear line, no traceback."""

from __future__ import annotations

import sys

_FORESEEN = (
    ("backend.settings", "SettingsError"),
    ("backend.db.account", "EmbeddedError"),
    ("backend.db.migrate", "MigrationError"),
    ("backend.db.errors", "DatabaseError"),
    ("backend.domain.refusals", "Refusal"),
    ("shared.client.errors", "ClientError"),
)
"""Errors whose message was written for the user. One whose module is not loaded was not raised."""


class Failure(Exception):  # noqa: N818 - it is the word the command line uses
    """Ends the command with `line` on standard error and the exit code `code`.

    1: it could not be done. 2: it was asked for wrongly. 130: the user stopped it.
    """

    def __init__(self, line: str, code: int = 1) -> None:
        super().__init__(line)
        self.line = line
        self.code = code


def explain(error: Exception) -> Failure | None:
    """Return the one line for a foreseeable error; None for a fault of the program's own."""
    if isinstance(error, Failure):
        return error
    for module, name in _FORESEEN:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(error, kind):
            field = getattr(error, "field", "")
            return Failure(f"{field}: {_one_line(error)}" if field else _one_line(error))
    if type(error).__module__.startswith("asyncpg"):
        return Failure(f"the database refused: {_one_line(error)}")
    if isinstance(error, OSError):
        return Failure(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__

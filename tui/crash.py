"""What is left of an unexpected error: where it happened, and no word of what was on the screen.

A usual traceback shows messages and local values, and those are content, tokens and keys.
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path


def describe(error: BaseException) -> str:
    """Return the types and places of an error and its causes, without messages or values."""
    rows: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        rows.append(f"{type(seen).__module__}.{type(seen).__qualname__}")
        rows += [
            f"  {frame.filename}:{frame.lineno} in {frame.name}"
            for frame in traceback.extract_tb(seen.__traceback__)
        ]
        seen = seen.__cause__ or seen.__context__
    return "\n".join(rows) + "\n"


def write_report(folder: Path, error: BaseException) -> Path | None:
    """Write the report for the owner alone; return where, or None if the disk refuses."""
    path = folder / "crash.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(describe(error))
    except OSError:
        return None
    return path

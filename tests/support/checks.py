"""The three tiers of checks behind `./run test`, each check with its heading and its time.

    ./run test             format, lint, types, import law, tests
    ./run test --full      the above, mutants, faults, and the core tests on other databases and
                           Pythons
    ./run test --long      the above, with every test on every database and Python
    ./run test ARGUMENTS   pytest alone, with these arguments

All checks run even when one fails; the exit code is 1 if any did.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
OTHER_PYTHONS = ("3.11", "3.12", "3.13")
OLD_POSTGRES = Path("/usr/lib/postgresql/15/bin")
NO_SKIPS = "FENCEPOST_NO_SKIPS"
# A file stays with one worker, so that what a module shares is made once.
_SHORT, _LONG = "not fault and not full", "fault or full"
"""What every run asks, and what the full tier asks as well."""
_PYTEST = ("-m", "pytest", "-n", "2", "--dist", "loadfile", "-q")


class Check(msgspec.Struct, frozen=True):
    """One command. Without one it is a check that can't be made here; `missing` says why."""

    title: str
    command: Sequence[str] = ()
    environment: dict[str, str] = {}
    missing: str = ""


class Result(msgspec.Struct, frozen=True):
    """How a check went."""

    title: str
    verdict: str
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether the tier fails for it."""
        return self.verdict == "FAILED"


def main(arguments: Sequence[str]) -> int:
    """Run a tier, or pytest alone; return the exit code."""
    if arguments and arguments[0] not in ("--full", "--long"):
        return subprocess.call([sys.executable, "-m", "pytest", *arguments], cwd=ROOT)
    if arguments[1:]:
        sys.stderr.write(f"{arguments[0]} takes no further arguments\n")
        return 2
    results = [carry_out(check) for check in checks(arguments[0] if arguments else "")]
    heading("all checks")
    for result in results:
        print(f"{result.verdict:>8}  {result.seconds:7.1f} s  {result.title}")
    return int(any(result.failed for result in results))


def checks(tier: str) -> Iterator[Check]:
    """Yield the checks of a tier, in order."""
    python = sys.executable
    yield Check("format", (python, "-m", "ruff", "format", "--check", "."))
    yield Check("lint", (python, "-m", "ruff", "check", "."))
    yield Check("types", (python, "-m", "mypy"))
    yield Check("import law", (str(Path(python).with_name("lint-imports")),))
    yield Check("tests", (python, *_PYTEST, "--requirements", "-m", _SHORT))
    if not tier:
        return
    yield Check("faults", (python, "-m", "pytest", "-q", "--requirements", "-m", _LONG))
    yield Check("mutants", (python, "-m", "tests.mutants"))
    chosen = f"core and {_SHORT}" if tier == "--full" else _SHORT
    yield on_old_postgres(chosen)
    for version in OTHER_PYTHONS:
        if version != "{}.{}".format(*sys.version_info[:2]):
            yield on_other_python(version, chosen)


def on_old_postgres(chosen: str) -> Check:
    """Return the check that runs tests on the oldest PostgreSQL that we support."""
    title = "tests on PostgreSQL 15"
    if not (OLD_POSTGRES / "postgres").exists():
        return Check(title, missing=f"no {OLD_POSTGRES}")
    environment = {"FENCEPOST_TEST_PG_BIN": str(OLD_POSTGRES)}
    return Check(title, (sys.executable, *_PYTEST, "-m", chosen), environment)


def on_other_python(version: str, chosen: str) -> Check:
    """Return the check that runs tests on another Python, in an environment of its own."""
    title = f"tests on Python {version}"
    name = f"python{version}"
    try:
        answers = subprocess.run([name, "--version"], check=False, capture_output=True)
    except OSError:
        return Check(title, missing=f"no {name} on PATH")
    if answers.returncode:
        return Check(title, missing=f"{name} does not answer")
    environment = {"FENCEPOST_VENV": str(ROOT / f".venv-{version}")}
    return Check(title, (name, "run", "python", *_PYTEST, "-m", chosen), environment)


def carry_out(check: Check) -> Result:
    """Run one check under its heading."""
    heading(check.title)
    if check.missing:
        # A missing Python is told by name; a missing database is a failure where all is installed.
        strict = bool(os.environ.get(NO_SKIPS)) and "PostgreSQL" in check.title
        print(f"not run: {check.missing}", flush=True)
        return Result(check.title, "FAILED" if strict else "not run", 0.0)
    started = time.monotonic()
    code = subprocess.call(check.command, cwd=ROOT, env=os.environ | check.environment)
    verdict = "FAILED" if code else "ok"
    seconds = time.monotonic() - started
    print(f"{verdict} in {seconds:.1f} s", flush=True)
    return Result(check.title, verdict, seconds)


def heading(title: str) -> None:
    """Print a heading that stands out in a long log."""
    print(f"\n=== {title} {'=' * (72 - len(title))}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

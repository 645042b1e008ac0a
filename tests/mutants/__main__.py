"""Put each fault into a copy of the tree, and see that the named tests find it.

    ./run mutants              all of them
    ./run mutants ID ...       these
    ./run mutants --list       their ids

First the tests run without any fault, for a test that fails anyway proves nothing. A fault is
killed only by a test that runs and fails: one that can't even start does not count. Exit 0 if all
are killed, 1 if one survives or can't be judged, 2 for an id that is not there.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from tests.mutants.model import ROOT, Mutant, MutantError, load

AT_ONCE = 2
LONGEST = 240.0
"""Seconds that the tests of one fault may take; pytest stops a test that hangs before that."""
_COPIED = ("backend", "shared", "sql", "tests", "tui")
_ALONE = ("pyproject.toml", "run", "README.md", "requirements.lock")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
_PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--timeout=60")
_FAILED = re.compile(r"\b[1-9]\d* failed\b")


class Verdict(msgspec.Struct, frozen=True):
    """What became of a fault: killed, SURVIVED, or UNCLEAR with what pytest said."""

    mutant: Mutant
    word: str
    seconds: float
    said: str = ""

    def __str__(self) -> str:
        line = f"{self.word:<9} {self.mutant.id:<34} {self.seconds:5.1f} s  {self.mutant.file}"
        return f"{line}\n{self.said}" if self.said else line


def main(arguments: Sequence[str]) -> int:
    """Run the mutants that are named, or all; return the exit code."""
    try:
        mutants = chosen(load(), arguments)
    except MutantError as error:
        sys.stderr.write(f"mutants: {error}\n")
        return 2
    if "--list" in arguments:
        print("\n".join(mutant.id for mutant in mutants))
        return 0
    faults = [fault for mutant in mutants for fault in mutant.faults(ROOT)]
    if faults:
        sys.stderr.write("".join(f"mutants: {fault}\n" for fault in faults))
        return 1
    started = time.monotonic()
    with copies(AT_ONCE) as trees:
        if not sound(trees, mutants):
            return 1
        killed = judge(trees, mutants)
    seconds = time.monotonic() - started
    print(f"{killed} of {len(mutants)} mutants killed in {seconds:.0f} s", flush=True)
    return int(killed != len(mutants))


def chosen(mutants: list[Mutant], arguments: Sequence[str]) -> list[Mutant]:
    """Return the mutants whose ids are given, or all. Raises MutantError for an unknown id."""
    ids = [argument for argument in arguments if argument != "--list"]
    known = {mutant.id for mutant in mutants}
    for name in ids:
        if name not in known:
            raise MutantError(f"there is no mutant {name}; --list names all")
    return [mutant for mutant in mutants if not ids or mutant.id in ids]


@contextlib.contextmanager
def copies(count: int) -> Iterator[queue.SimpleQueue[Path]]:
    """Make copies of the tree, to be handed out; they are removed at the end."""
    with tempfile.TemporaryDirectory(prefix="fencepost-mutants-") as folder:
        trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(count):
            tree = Path(folder) / str(number)
            for name in _COPIED:
                shutil.copytree(ROOT / name, tree / name, ignore=_LEFT_OUT)
            for name in _ALONE:
                if (ROOT / name).exists():
                    shutil.copy2(ROOT / name, tree / name)
            trees.put(tree)
        yield trees


def sound(trees: queue.SimpleQueue[Path], mutants: Sequence[Mutant]) -> bool:
    """Tell whether all named tests pass while nothing is wrong."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    tree = trees.get()
    code, said = run_tests(tree, tests, longest=LONGEST * 4, exit_first=False)
    trees.put(tree)
    if code:
        print(f"the tests fail without any fault:\n{said}")
    return code == 0


def judge(trees: queue.SimpleQueue[Path], mutants: Sequence[Mutant]) -> int:
    """Run the mutants, some at once, and tell of each; return how many were killed."""
    killed = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for verdict in pool.map(lambda mutant: try_out(trees, mutant), mutants):
            print(verdict, flush=True)
            killed += verdict.word == "killed"
    return killed


def try_out(trees: queue.SimpleQueue[Path], mutant: Mutant) -> Verdict:
    """Put one fault into a free copy, run its tests, and take it out again."""
    tree = trees.get()
    started = time.monotonic()
    text = mutant.apply(tree)
    try:
        code, said = run_tests(tree, mutant.tests)
    finally:
        mutant.undo(tree, text)
        trees.put(tree)
    seconds = time.monotonic() - started
    if code == 0:
        return Verdict(mutant, "SURVIVED", seconds)
    if code == 1 and _FAILED.search(said):
        return Verdict(mutant, "killed", seconds)
    return Verdict(mutant, "UNCLEAR", seconds, said)


def run_tests(
    tree: Path, tests: Sequence[str], *, longest: float = LONGEST, exit_first: bool = True
) -> tuple[int, str]:
    """Run tests in a copy of the tree; return pytest's exit code and the end of what it said."""
    options = _PYTEST if exit_first else tuple(option for option in _PYTEST if option != "-x")
    process = subprocess.Popen(
        [sys.executable, *options, *tests],
        cwd=tree,
        # The copy comes before the editable install, also for programs that tests start; and no
        # compiled file outlives the fault that it was compiled with.
        env=os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=longest)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        said, _ = process.communicate()
        return -1, f"{said[-2000:]}\nstopped after {longest:.0f} s"
    return process.returncode, said[-3000:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

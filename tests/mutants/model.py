"""What a mutant is, and the list of them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("mutants.toml")


class MutantError(Exception):
    """The list is not in order; the message says which mutant and why."""


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fault: in `file`, `old` (there exactly once) becomes `new`; one of `tests` must fail."""

    id: str
    file: str
    old: str
    new: str
    tests: list[str]

    def apply(self, root: Path) -> str:
        """Put the fault in the tree at `root`; return the text as it was. Raises MutantError."""
        path = root / self.file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        times = text.count(self.old)
        if times != 1:
            raise MutantError(f"{self.id}: its text stands {times} times in {self.file}, not once")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")
        return text

    def undo(self, root: Path, text: str) -> None:
        """Take the fault out again."""
        (root / self.file).write_text(text, encoding="utf-8")

    def faults(self, root: Path) -> list[str]:
        """Say what is not in order with this entry, without changing anything."""
        path = root / self.file
        times = path.read_text(encoding="utf-8").count(self.old) if path.exists() else 0
        found = [] if times == 1 else [f"its text stands {times} times in {self.file}, not once"]
        found += ["it changes nothing"] if self.old == self.new else []
        found += [] if self.tests else ["no test is named"]
        for test in self.tests:
            place, _, name = test.partition("::")
            name = name.partition("[")[0]
            source = root / place
            if not source.exists() or f"def {name}(" not in source.read_text(encoding="utf-8"):
                found.append(f"there is no test {test}")
        return [f"{self.id}: {fault}" for fault in found]


def load(path: Path = FILE) -> list[Mutant]:
    """Read the list. Raises MutantError for an id that stands twice."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    mutants = msgspec.convert(listed, list[Mutant])
    ids = [mutant.id for mutant in mutants]
    for name in ids:
        if ids.count(name) > 1:
            raise MutantError(f"{name}: the id stands twice")
    return mutants

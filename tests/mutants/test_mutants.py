"""The list of mutants is in order, and the runner tells a kill from a test that could not start."""

from __future__ import annotations

import queue
from pathlib import Path

import pytest

from tests.mutants.__main__ import main, try_out
from tests.mutants.model import ROOT, Mutant, MutantError, load

TREE = {
    "sum.py": "def total(a, b):\n    return a + b\n",
    "test_sum.py": (
        "from sum import total\n"
        "def test_total():\n    assert total(2, 3) == 5\n"
        "def test_zero():\n    assert total(0, 0) == 0\n"
    ),
    "pyproject.toml": "[tool.pytest]\npythonpath = ['.']\n",
}


@pytest.fixture
def trees(tmp_path: Path) -> queue.SimpleQueue[Path]:
    """One small tree with a test."""
    for name, text in TREE.items():
        (tmp_path / name).write_text(text)
    waiting: queue.SimpleQueue[Path] = queue.SimpleQueue()
    waiting.put(tmp_path)
    return waiting


def mutant(new: str, test: str = "test_total") -> Mutant:
    return Mutant(id="m", file="sum.py", old="a + b", new=new, tests=[f"test_sum.py::{test}"])


@pytest.mark.parametrize("entry", load(), ids=lambda entry: entry.id)
def test_every_mutant_can_be_applied_and_names_tests_that_are_there(entry: Mutant) -> None:
    assert entry.faults(ROOT) == []


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        (mutant("a - b"), "killed"),
        (mutant("a - b", "test_zero"), "SURVIVED"),
        (mutant("a +"), "UNCLEAR"),
        (mutant("a - b", "test_gone"), "UNCLEAR"),
    ],
    ids=["killed", "survived", "does-not-load", "no-such-test"],
)
def test_a_mutant_is_killed_only_by_a_test_that_ran_and_failed(
    trees: queue.SimpleQueue[Path], tmp_path: Path, entry: Mutant, word: str
) -> None:
    assert try_out(trees, entry).word == word
    assert (tmp_path / "sum.py").read_text() == TREE["sum.py"]


def test_a_text_that_does_not_stand_there_once_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "sum.py").write_text("a + b, a + b")
    assert mutant("a - b").faults(tmp_path)[0].startswith("m: its text stands 2 times")
    with pytest.raises(MutantError, match="2 times"):
        mutant("a - b").apply(tmp_path)


def test_an_unknown_mutant_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-mutant"]) == 2
    assert capsys.readouterr().err == (
        "mutants: there is no mutant no-such-mutant; --list names all\n"
    )

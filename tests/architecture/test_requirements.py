"""`tests/requirements.toml` names tests that exist, and the plugin tells when one did not run."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.requirements import FILE, Requirement, read, unmet
from tests.support.tree import ROOT, Function, syntax

ID = re.compile(r"[A-Z]{1,4}-[1-9]\d{0,2}")
ONE = {"Q-1": Requirement("A claim serves by rank.", ["t.py::test_rank"])}


def exists(test: str) -> bool:
    """Whether a test id names a function that is written down."""
    path, *names = test.split("::")
    if not (ROOT / path).exists():
        return False
    body: list[ast.stmt] = syntax(ROOT / path).body
    for name in names:
        found = [n for n in body if isinstance(n, (ast.ClassDef, Function)) and n.name == name]
        if not found:
            return False
        body = found[0].body
    return names[-1].startswith("test_")


def test_requirements_are_written_down() -> None:
    assert FILE.exists()
    assert read()


def test_each_requirement_has_a_stable_id_a_sentence_and_a_test() -> None:
    wrong = [
        name
        for name, requirement in read().items()
        if not (ID.fullmatch(name) and requirement.says.endswith(".") and requirement.tests)
    ]
    assert wrong == []


def test_each_promised_test_exists() -> None:
    promised = [test for requirement in read().values() for test in requirement.tests]
    assert [test for test in promised if not exists(test)] == []


def test_a_test_that_ran_and_passed_shows_its_requirement() -> None:
    assert unmet(ONE, {"t.py::test_rank[a]": {"passed"}}, set()) == []


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_any_other_outcome_does_not(outcome: str) -> None:
    outcomes = {"t.py::test_rank[a]": {"passed"}, "t.py::test_rank[b]": {outcome}}
    seen = ", ".join(sorted(["passed", outcome]))
    assert unmet(ONE, outcomes, set()) == [f"Q-1: t.py::test_rank: {seen}"]


def test_a_test_that_did_not_run_is_told() -> None:
    assert unmet(ONE, {"t.py::test_ranking": {"passed"}}, set()) == [
        "Q-1: t.py::test_rank: did not run"
    ]


def test_a_test_that_the_tier_leaves_out_is_not_asked_for() -> None:
    assert unmet(ONE, {}, {"t.py::test_rank"}) == []


def suite(folder: Path, tests: str, *options: str, **variables: str) -> tuple[int, str]:
    """Run pytest with the plugin on one file of tests, in two worker processes."""
    (folder / "test_it.py").write_text(tests)
    (folder / "pytest.toml").write_text("[pytest]\nmarkers = ['core', 'fault']\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.support.requirements", "-n", "2"]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(
        [*command, "--rootdir", str(folder), *options, str(folder)],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


PASSING = "def test_a(): pass\n"
SKIPPING = "import pytest\n@pytest.mark.skip(reason='no tmux')\ndef test_a(): pass\n"


@pytest.mark.slow
def test_a_whole_tier_fails_when_a_promised_test_is_gone(tmp_path: Path) -> None:
    promised = tmp_path / "requirements.toml"
    promised.write_text('[Q-1]\nsays = "It holds."\ntests = ["test_it.py::test_b"]\n')
    code, said = suite(tmp_path, PASSING, f"--requirements={promised}")
    assert code == 1
    assert "Q-1: test_it.py::test_b: did not run" in said


@pytest.mark.slow
def test_a_whole_tier_passes_when_each_promised_test_did(tmp_path: Path) -> None:
    promised = tmp_path / "requirements.toml"
    promised.write_text('[Q-1]\nsays = "It holds."\ntests = ["test_it.py::test_a"]\n')
    assert suite(tmp_path, PASSING, f"--requirements={promised}")[0] == 0


@pytest.mark.slow
def test_a_tier_does_not_ask_for_what_its_marker_leaves_out(tmp_path: Path) -> None:
    promised = tmp_path / "requirements.toml"
    promised.write_text('[Q-1]\nsays = "It holds."\ntests = ["test_it.py::test_b"]\n')
    tests = PASSING + "import pytest\n@pytest.mark.fault\ndef test_b(): pass\n"
    assert suite(tmp_path, tests, f"--requirements={promised}", "-m", "not fault")[0] == 0


@pytest.mark.slow
def test_a_narrow_run_asks_for_nothing_more(tmp_path: Path) -> None:
    assert suite(tmp_path, PASSING)[0] == 0


@pytest.mark.slow
def test_a_skip_is_a_failure_where_nothing_may_be_skipped(tmp_path: Path) -> None:
    assert suite(tmp_path, SKIPPING)[0] == 0
    code, said = suite(tmp_path, SKIPPING, FENCEPOST_NO_SKIPS="1")
    assert code == 1
    assert "nothing may be skipped here: Skipped: no tmux" in said

"""A pytest plugin: what `tests/requirements.toml` promises was run, and nothing is skipped unseen.

    [Q-3]
    says = "A claim serves strictly by rank."
    tests = ["tests/services/test_claim.py::test_the_highest_rank_is_served_first"]

With `--requirements` (a whole tier, see `checks.py`) each of these tests must have run and passed,
except those that the tier leaves out by its marker. With FENCEPOST_NO_SKIPS, a skip is a failure.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

FILE = Path(__file__).resolve().parents[1] / "requirements.toml"
CORE = ("tests/unit/", "tests/sql/", "tests/services/")
_LEFT_OUT = "fencepost_left_out"


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sentence in the product's own words and the tests that show it."""

    says: str
    tests: list[str]


def read(path: Path = FILE) -> dict[str, Requirement]:
    """Read the requirements by their ids. Raises msgspec.ValidationError for a malformed one."""
    if not path.exists():
        return {}
    return msgspec.convert(tomllib.loads(path.read_text()), dict[str, Requirement])


def unmet(
    requirements: dict[str, Requirement], outcomes: dict[str, set[str]], left_out: set[str]
) -> list[str]:
    """Say which promised tests did not run and pass; parameters of a test count together."""
    problems = []
    for name, requirement in requirements.items():
        for test in requirement.tests:
            seen = set().union(*_of(test, outcomes.items()))
            if seen == {"passed"} or (not seen and any(_is(test, id_) for id_ in left_out)):
                continue
            problems.append(f"{name}: {test}: {', '.join(sorted(seen)) or 'did not run'}")
    return problems


def _of(test: str, outcomes: Iterable[tuple[str, set[str]]]) -> list[set[str]]:
    return [seen for id_, seen in outcomes if _is(test, id_)]


def _is(test: str, id_: str) -> bool:
    return id_ == test or id_.startswith(test + "[")


class Ledger:
    """What ran, gathered in the process that reports."""

    def __init__(self) -> None:
        self.outcomes: dict[str, set[str]] = {}
        self.left_out: set[str] = set()
        self.problems: list[str] = []

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.left_out.update(item.nodeid for item in items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes.setdefault(report.nodeid, set()).add(report.outcome)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.left_out.update(getattr(node, "workeroutput", {}).get(_LEFT_OUT, ()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        worker_output = getattr(session.config, "workeroutput", None)
        if worker_output is not None:
            worker_output[_LEFT_OUT] = sorted(self.left_out)
        elif promised := session.config.getoption("--requirements"):
            self.problems = unmet(read(Path(promised)), self.outcomes, self.left_out)
            if self.problems and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.problems:
            terminalreporter.section("requirements not shown", red=True)
            for problem in self.problems:
                terminalreporter.line(problem)


def pytest_addoption(parser: pytest.Parser) -> None:
    help_ = "fail unless each test of tests/requirements.toml ran and passed"
    parser.addoption("--requirements", nargs="?", const=str(FILE), metavar="FILE", help=help_)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Ledger(), "fencepost-ledger")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(CORE):
            item.add_marker("core")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    is_skip = report.outcome == "skipped" and not hasattr(report, "wasxfail")
    if is_skip and os.environ.get("FENCEPOST_NO_SKIPS"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped here: {reason}"

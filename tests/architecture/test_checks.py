"""The tiers of checks: what each holds, and that what could not be checked is told by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import checks
from tests.support.checks import Check, carry_out

FAST = ["format", "lint", "types", "import law", "tests"]


def titles(tier: str) -> list[str]:
    return [check.title for check in checks.checks(tier)]


def test_the_first_tier_is_format_lint_types_import_law_and_tests() -> None:
    assert titles("") == FAST


@pytest.mark.parametrize("tier", ["--full", "--long"])
def test_the_other_tiers_add_faults_mutants_and_other_databases_and_pythons(tier: str) -> None:
    found = titles(tier)
    assert found[: len(FAST)] == FAST
    assert found[len(FAST) : len(FAST) + 3] == ["faults", "mutants", "tests on PostgreSQL 15"]
    assert len(found) == len(FAST) + 3 + 2
    assert all(title.startswith("tests on Python 3.") for title in found[-2:])


def test_a_python_that_is_missing_is_told_by_name_and_fails_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(checks.NO_SKIPS, "1")
    result = carry_out(checks.on_other_python("3.0", "core"))
    assert (result.verdict, result.failed) == ("not run", False)
    assert "no python3.0 on PATH" in capsys.readouterr().out


@pytest.mark.parametrize(("strict", "failed"), [("", False), ("1", True)])
def test_a_database_that_is_missing_fails_where_all_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strict: str, failed: bool
) -> None:
    monkeypatch.setattr(checks, "OLD_POSTGRES", tmp_path)
    monkeypatch.setenv(checks.NO_SKIPS, strict)
    assert carry_out(checks.on_old_postgres("core")).failed is failed


def test_a_check_that_fails_fails_the_tier_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [Check("bad", ("false",)), Check("good", ("true",))]
    monkeypatch.setattr(checks, "checks", lambda _: made)
    assert checks.main([]) == 1
    told = capsys.readouterr().out
    assert "FAILED" in told
    assert "ok" in told.rpartition("all checks")[2]

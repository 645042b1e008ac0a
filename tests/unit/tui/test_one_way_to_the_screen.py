"""Read the tree: strings reach a widget in one module, as Content, and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui import keymap
from tui.cockpit.health import HealthScreen
from tui.screens.review import ReviewScreen
from tui.state.offers import LETTERS, SKIP_LETTER

TUI = Path(__file__).parents[3] / "tui"
FILES = sorted(TUI.rglob("*.py"))
PAINT = TUI / "widgets" / "paint.py"
OWN_SINKS = {"show", "grow", "caption", "draw", "message"}
"""Methods of ours that take Content by type; the type checker proves their arguments."""
FORBIDDEN_NAMES = {
    "Static", "Label", "Button", "Markdown", "RichLog", "Log", "DataTable", "OptionList", "Tree",
    "Text", "Header", "Footer", "Content",
}  # fmt: skip
FORBIDDEN_CALLS = {
    "update", "notify", "add_row", "add_column", "from_markup", "from_ansi", "from_text",
    "render_str", "panic", "copy_to_clipboard", "open_url",
}  # fmt: skip
TITLES = {"border_title", "border_subtitle", "title", "sub_title", "tooltip", "placeholder"}


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield called(node), node


def called(call: ast.Call) -> str:
    """Return the last name of what is called."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def is_bare_string(node: ast.AST) -> bool:
    """Tell whether an expression is a string for sure: a literal, an f-string, str(...)."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp):
        return is_bare_string(node.left) or is_bare_string(node.right)
    if isinstance(node, ast.Call):
        return called(node) in ("str", "format", "join", "safe_line")
    return isinstance(node, ast.JoinedStr)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TUI)))
def test_only_one_module_makes_content_or_fills_a_widget(path: Path) -> None:
    if path == PAINT:
        return
    for name, call in calls(ast.parse(path.read_text())):
        assert name not in FORBIDDEN_NAMES, f"line {call.lineno}: {name}(...)"
        assert name not in FORBIDDEN_CALLS, f"line {call.lineno}: .{name}(...)"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TUI)))
def test_no_bare_string_goes_into_a_widget_or_onto_a_frame(path: Path) -> None:
    tree = ast.parse(path.read_text())
    for name, call in calls(tree):
        if name in OWN_SINKS | FORBIDDEN_CALLS | {"Line", "glue", "lines", "fit", "spread"}:
            for argument in call.args:
                assert not is_bare_string(argument), (
                    f"line {call.lineno}: {name}({ast.unparse(argument)})"
                )
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr in TITLES:
                    assert not is_bare_string(node.value), (
                        f"line {node.lineno}: {ast.unparse(node)}"
                    )


@pytest.mark.parametrize(
    "source", ['w.show("x")', 'w.show(f"{x}")', 'w.caption("a" + b)', "w.show(str(x))"]
)
def test_the_check_finds_what_it_is_there_to_find(source: str) -> None:
    found = [call for name, call in calls(ast.parse(source)) if name in OWN_SINKS]
    assert any(is_bare_string(argument) for argument in found[0].args)


def test_content_is_made_from_strings_in_two_functions_only() -> None:
    tree = ast.parse(PAINT.read_text())
    makers = {
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for name, call in calls(function)
        if name in ("Content", "styled") and not isinstance(call.args[0], ast.Constant)
    }
    assert makers == {"words", "marked"}


def test_no_action_takes_arguments_that_markup_could_give() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = [each.arg for each in node.args.args]
                assert not node.name.startswith("action_") or arguments == ["self"], node.name


@pytest.mark.parametrize("bindings", [keymap.REVIEW, keymap.LEAD], ids=["review", "lead"])
def test_no_key_starts_two_actions(bindings: tuple[keymap.Binding, ...]) -> None:
    keys = [key for binding in bindings for key in binding.keys]
    assert len(keys) == len(set(keys))


def test_no_key_of_the_keymap_is_a_verdict_or_a_digit() -> None:
    letters = {*LETTERS.values(), SKIP_LETTER}
    for binding in keymap.REVIEW:
        assert not letters & set(binding.keys), binding.action
        assert not any(key.isdigit() for key in binding.keys)
    assert len(letters) == len(LETTERS) + 1
    assert not letters & {"enter", "space"}


@pytest.mark.parametrize(
    ("screen", "bindings"), [(ReviewScreen, keymap.REVIEW), (HealthScreen, keymap.LEAD)],
    ids=["review", "lead"],
)  # fmt: skip
def test_every_key_that_is_shown_works(screen: type, bindings: tuple[keymap.Binding, ...]) -> None:
    for binding in bindings:
        if binding.action != "sign_off":
            assert callable(getattr(screen, f"do_{binding.action}")), binding.action


def test_only_settings_reads_the_environment() -> None:
    for path in FILES:
        text = path.read_text()
        if path.name != "settings.py":
            assert "environ" not in text, path
            assert "getenv" not in text, path

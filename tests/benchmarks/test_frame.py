"""The frame of the benchmarks: what it prints, what it judges, and what it refuses."""

from __future__ import annotations

import json

import pytest

from tests.benchmarks.__main__ import NAMES, main
from tests.benchmarks.bodies import bodies
from tests.benchmarks.frame import figure, percentile


def test_an_unknown_name_is_answered_with_the_names_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["nope"]) == 2
    said = capsys.readouterr().err
    assert said == f"bench: there is no benchmark nope; there are: {', '.join(NAMES)}\n"
    assert main([]) == 2


def test_each_figure_is_one_json_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["engine", "--bodies", "50", "--rounds", "1"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["name"] == "engine"
    for line in lines:
        assert {"name", "value", "unit", "target", "holds"} <= set(line)
        assert line["value"] > 0


@pytest.mark.parametrize(
    ("value", "target", "holds"),
    [
        (1.15, ("<=", 1.15), True),
        (1.16, ("<=", 1.15), False),
        (0.5, (">=", 0.5), True),
        (0.49, (">=", 0.5), False),
        (99.0, None, True),
    ],
)
def test_a_figure_holds_if_the_median_meets_its_target(
    value: float, target: tuple[str, float] | None, holds: bool
) -> None:
    assert figure("x", [0.0, value, 1_000.0], target=target).holds is holds  # type: ignore[arg-type]


def test_the_exit_code_says_whether_all_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["engine", "--bodies", "50", "--rounds", "1"]
    for bound, code in ((0.0, 0), (1e9, 1)):
        monkeypatch.setattr("tests.benchmarks.engine.LEAST", bound)
        assert main(arguments) == code
    assert capsys.readouterr().out.count('"holds":false') == 1


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(100)]
    assert (percentile(values, 0.5), percentile(values, 0.99)) == (50.0, 99.0)
    assert percentile([7.0], 0.99) == 7.0


def test_the_bodies_are_the_same_for_the_same_seed_and_fall_into_every_band() -> None:
    assert bodies(20, seed=1) == bodies(20, seed=1) != bodies(20, seed=2)
    highest = [max(json.loads(body)["labels"].values()) for body in bodies(1_000, seed=1)]
    assert min(highest) < 0.2
    assert any(0.2 <= score <= 0.95 for score in highest)
    assert max(highest) > 0.95


def test_every_benchmark_says_what_it_measures() -> None:
    assert all(benchmark.says.strip() for benchmark in NAMES.values())

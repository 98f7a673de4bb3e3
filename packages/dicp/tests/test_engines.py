"""Graph engine of a wheel: it runs the calls that it accepts, and results never differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from dl_core.cli import main
from dl_dicp import statistics
from dl_dicp.options import Options
from dl_dicp.reports.explain import explain
from engine_wheel import installed

OPTIONS: dict[str, Any] = {"engine": "toy", "patterns": False}


def function(x: Tensor, y: Tensor) -> Tensor:
    return (x * y + x).sin() * y + y


def mutate(x: Tensor, y: Tensor) -> Tensor:
    x.add_(y)
    return x * y


def run(function: Callable[..., Tensor], times: int = 3) -> None:
    """Check that compiled and eager runs agree in results and mutated arguments."""
    compiled = torch.compile(function, backend="dl", options=OPTIONS)
    given, other = (torch.rand(4, 8, device="dl") for _ in range(2))
    for _ in range(times):
        a, b = given.clone(), given.clone()
        made, wanted = compiled(a, other), function(b, other)
        assert torch.allclose(made, wanted, rtol=0, atol=1e-6) and torch.equal(a, b)


def test_it_runs_its_calls_and_the_executor_runs_all_other_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with installed(tmp_path, monkeypatch):
        run(function)
    # Two graphs in each of the two later runs; the first run is recorded and checked.
    assert statistics.engine_runs == {"toy": 4}
    assert not statistics.dropped and not statistics.eager
    said = explain()
    assert said.count("graph engine toy 1.2, which agreed with the executor") == 2
    assert "contract graph, 1 calls: diopiSin" in said


def test_what_it_writes_is_the_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with installed(tmp_path, monkeypatch):
        run(mutate)
    assert statistics.engine_runs == {"toy": 2} and not statistics.dropped


FAULTS = {
    "crashes": (
        ("return json.dumps", "raise OSError('no licence'); return json.dumps"),
        "OSError: no licence",
    ),
    "rejects": (
        ("return json.dumps", "from dl_dicp.engines import RejectedError as R; raise R('full') #"),
        "RejectedError: full",
    ),
    "does not load": (("return Engine()", "raise ImportError('libtoy.so')"), "it cannot be loaded"),
    "returns a number": (("return Engine()", "return 7"), "7 is not a graph engine"),
    "answers for too few": (
        ("return [self", "return [True] and [self.fits(entry, *entry['calls'][0])] #"),
        "accepts() has returned 1 values for 5 calls",
    ),
    "computes nonsense": (("np.multiply}", "np.subtract}"), "value 0 of its graph differs"),
    "writes nothing": (
        ("FUNCTIONS[operator](a, b, out=out)", "out[...] = np.nan"),
        "value 0 of its graph differs",
    ),
    "leaves what was there": (
        (
            "FUNCTIONS[operator](a, b, out=out)",
            "operator == 'diopiMul' or FUNCTIONS[operator](a, b, out=out)",
        ),
        "value 0 of its graph differs",
    ),
    "fails when it runs": (
        ("arrays = {", "raise MemoryError('7 TB'); arrays = {"),
        "MemoryError: 7 TB",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_that_fails_is_dropped_and_results_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    change, reason = FAULTS[fault]
    with (
        installed(tmp_path, monkeypatch, change),
        pytest.warns(RuntimeWarning, match="the graph engine toy cannot run this graph"),
    ):
        run(function)
    assert not statistics.engine_runs and not statistics.eager
    assert statistics.dropped and all(
        name == "toy" and reason in why for name, why in statistics.dropped
    )
    assert reason in explain()


def test_one_that_fails_later_is_dropped_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = (
        "arrays = {",
        "sizes.append(0); assert len(sizes) < len(entry['storages']) + 3; arrays = {",
    )
    with (
        installed(tmp_path, monkeypatch, late),
        pytest.warns(RuntimeWarning, match="it failed: AssertionError"),
    ):
        run(function, 5)
    assert 0 < statistics.engine_runs["toy"] < 8 and len(statistics.dropped) == 1


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the option engine must be one of .*, not 'toy'"):
        Options(engine="toy")


def test_the_suites_run_against_an_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with installed(tmp_path, monkeypatch):
        assert main(["dicp", "test", "ops", "-k", "mul | forward", "--engine", "toy"]) == 0
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("engine toy: "))
    assert int(line.split()[2]) > 0


def test_a_suite_fails_if_the_engine_drops_a_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with installed(tmp_path, monkeypatch, FAULTS["computes nonsense"][0]):
        assert main(["dicp", "test", "ops", "-k", "mul | forward", "--engine", "toy"]) == 1
    assert "engine toy dropped" in capsys.readouterr().out


def test_an_unknown_engine_is_refused_by_the_suites(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["dicp", "test", "ops", "--engine", "none"]) == 2
    assert "--engine none: unknown engine; available: contract, tiled" in capsys.readouterr().err
    assert main(["dicp", "test", "patterns", "--engine", "tiled"]) == 2

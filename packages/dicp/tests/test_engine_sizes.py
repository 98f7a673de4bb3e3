"""Graph engines of wheels run programs that serve many sizes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from dl_core.cli import main
from dl_dicp import statistics
from dl_dicp.engines.sized import MOST_TUPLES, PATIENCE, REJECTED_SIZES, TOO_MANY_SIZES
from dl_dicp.program.packing import packed_json, unpacked
from dl_dicp.program.specialized import specialize
from dl_dicp.reports.explain import explain
from dl_graph.expression import evaluate
from engine_wheel import SOURCE, installed

Change = tuple[str, str]

OPTIONS: dict[str, Any] = {"engine": "toy", "patterns": False}
# The engine writes a line for each graph that it compiles.
COUNTING: Change = (
    "return json.dumps",
    "with open(os.environ['TOY_LOG'], 'a') as log:\n"
    "            log.write(json.dumps(graph) + '\\n')\n"
    "        return json.dumps",
)
# The engine compiles symbols, and gets their sizes in each run.
SYMBOLIC = (
    ('version = "1.2"', 'version = "1.2"\n    takes_symbols = True'),
    ('sizes = [storage["bytes"] for storage in entry["storages"]]', "names = entry['symbols']"),
    (
        "def run(addresses, stream):",
        "def run(addresses, stream, given):\n"
        "            from dl_graph.expression import evaluate\n"
        "            known = dict(zip([x['name'] for x in names], given, strict=True))\n"
        "            sizes = [evaluate(x['bytes'], known) for x in entry['storages']]",
    ),
)


def function(x: Tensor, y: Tensor) -> Tensor:
    return (x * y + x).sin() * y + y


def mutate(x: Tensor, y: Tensor) -> Tensor:
    x.add_(y)
    return x * y


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Any]]:
    """Return a function that returns the compiled graphs."""
    path = tmp_path / "compiled"
    monkeypatch.setenv("TOY_LOG", str(path))
    return lambda: [json.loads(x) for x in path.read_text().splitlines()] if path.exists() else []


def engine(*changes: Change) -> str:
    source = SOURCE.replace("import json\n", "import json\nimport os\n")
    for before, after in (COUNTING, *changes):
        assert before in source
        source = source.replace(before, after)
    return source


def run(function: Callable[..., Tensor], lengths: Sequence[int]) -> None:
    """Check that compiled and eager runs agree in results and mutated arguments."""
    torch._dynamo.reset()
    statistics.reset()
    compiled = torch.compile(function, backend="dl", dynamic=True, options=OPTIONS)
    for length in lengths:
        given, other = (torch.rand(length, 8, device="dl") for _ in range(2))
        a, b = given.clone(), given.clone()
        made, wanted = compiled(a, other), function(b, other)
        assert torch.allclose(made, wanted, rtol=0, atol=1e-6) and torch.equal(a, b)


def test_a_graph_is_compiled_for_each_tuple_of_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Callable[[], list[Any]]
) -> None:
    with monkeypatch.context() as patch, installed(tmp_path, patch, source=engine()):
        run(function, (4, 6, 6, 6, 9, 9, 6))
        said = explain()
    assert not statistics.dropped and not statistics.eager and not statistics.fixed
    # The first run is recorded, the second one checks the program at other sizes. Then each graph
    # has a trial at each new length.
    assert statistics.engine_runs == {"toy": 2 * 3}
    graphs = log()
    assert len(graphs) == 2 * 2
    shapes = {tuple(x["entries"]["main"]["values"][0]["shape"]) for x in graphs}
    assert shapes == {(6, 8), (9, 8)}
    assert not any(x["entries"]["main"]["symbols"] for x in graphs)
    assert said.count("which agreed with the executor at 2 tuples of sizes") == 2


def test_an_engine_that_takes_symbols_compiles_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Callable[[], list[Any]]
) -> None:
    with monkeypatch.context() as patch, installed(tmp_path, patch, source=engine(*SYMBOLIC)):
        run(function, (4, 6, 7, 8, 9, 10, 9))
        said = explain()
    assert not statistics.dropped and not statistics.eager
    graphs = log()
    assert len(graphs) == 2
    assert all(x["entries"]["main"]["symbols"] for x in graphs)
    # Trials at the lengths 7 and 8; the code is trusted at further ones.
    assert statistics.engine_runs == {"toy": 2 * 3}
    assert "graph engine toy 1.2, which agreed with the executor" in said


@pytest.mark.parametrize("changes", [(), SYMBOLIC], ids=["fixed sizes", "symbols"])
def test_arguments_are_mutated_at_all_sizes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    log: Callable[[], list[Any]],
    changes: tuple[Change, ...],
) -> None:
    with monkeypatch.context() as patch, installed(tmp_path, patch, source=engine(*changes)):
        run(mutate, (4, 6, 7, 8, 8, 7, 9, 9))
    assert statistics.engine_runs["toy"] >= 3 and not statistics.dropped


@pytest.mark.filterwarnings("ignore:.*the graph engine toy cannot run this graph")
@pytest.mark.parametrize("changes", [(), SYMBOLIC], ids=["fixed sizes", "symbols"])
def test_wrong_results_at_some_sizes_are_not_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    log: Callable[[], list[Any]],
    changes: tuple[Change, ...],
) -> None:
    wrong = ("a, b, out=out)", "a, b, out=out); out[...] += len(out) == 7 * 8")
    with monkeypatch.context() as patch, installed(tmp_path, patch, source=engine(*changes, wrong)):
        run(function, (4, 6, 7, 7, 9, 9, 7, 9))
    reasons = {why for name, why in statistics.dropped if name == "toy"}
    assert reasons == {"value 0 of its graph differs from that of the contract program"}
    # One code for all sizes is no longer used; code for other sizes is.
    assert statistics.engine_runs["toy"] == (0 if changes else 2 * 2)


def test_sizes_that_an_engine_does_not_accept_run_on_the_executor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Callable[[], list[Any]]
) -> None:
    even = (
        "return three[0] ==",
        "return three[0]['shape'][0] % 2 == 0 and three[0] ==",
    )
    with monkeypatch.context() as patch, installed(tmp_path, patch, source=engine(even)):
        run(function, (4, 6, 7, 7, 8, 8))
    assert {why for _, why in statistics.dropped} == {REJECTED_SIZES}
    assert statistics.engine_runs == {"toy": 2}
    assert len(log()) == 2


def test_the_number_of_compiled_tuples_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Callable[[], list[Any]]
) -> None:
    many = list(range(6, 8 + MOST_TUPLES))
    with monkeypatch.context() as patch, installed(tmp_path, patch, source=engine()):
        run(function, [4, 5, *many])
        assert len(log()) == 2 * MOST_TUPLES
        assert statistics.dropped["toy", TOO_MANY_SIZES] == 2
        # A length that stays replaces the one that was used least recently.
        run(function, [4, 5, *many, *[many[-1]] * PATIENCE])
    assert len(log()) == 2 * (2 * MOST_TUPLES + 1)


def test_the_suites_run_against_an_engine_at_all_sizes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    log: Callable[[], list[Any]],
) -> None:
    options = ["-k", "mul | forward", "--engine", "toy", "--dynamic", "true"]
    with monkeypatch.context() as patch, installed(tmp_path, patch, source=engine()):
        assert main(["dicp", "test", "ops", *options]) == 0
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("engine toy: "))
    assert int(line.split()[2]) > 0 and log()


def test_a_graph_without_symbols_has_the_values_of_its_expressions() -> None:
    half = ["//", "n", 2]
    document = {
        "dlg": 1,
        "entries": {
            "main": {
                "symbols": [{"name": "n", "min": 2, "max": 64}],
                "guards": [["<=", 2, "n"]],
                "storages": [
                    {"kind": "input", "bytes": ["*", "n", 4]},
                    {"kind": "temp", "bytes": 8},
                ],
                "values": [{"shape": ["n", 3], "strides": [3, 1], "offset": half}],
                "calls": [
                    ["diopiSum", {"out": 0, "input": 0, "dim": [half]}],
                    ["diopiAddScalar", {"other": {"dtype": "int64", "value": "n"}}],
                    ["diopiMulScalar", {"other": {"dtype": "float64", "value": ["/", "n", 4]}}],
                    ["diopiGelu", {"approximate": "n"}],
                ],
                "plans": [],
            }
        },
    }
    entry = specialize(document, {"n": 10})["entries"]["main"]
    assert (entry["symbols"], entry["guards"]) == ([], [])
    assert [x["bytes"] for x in entry["storages"]] == [40, 8]
    assert entry["values"] == [{"shape": [10, 3], "strides": [3, 1], "offset": 5}]
    total, whole, fraction, text = (arguments for _, arguments in entry["calls"])
    assert total == {"out": 0, "input": 0, "dim": [5]}
    assert whole["other"]["value"] == 10
    assert float.fromhex(fraction["other"]["value"]) == 2.5
    # Only sizes can be symbols, and this parameter is a text.
    assert text == {"approximate": "n"}
    assert document["entries"]["main"]["values"][0]["offset"] is half  # type: ignore[index]


@pytest.mark.parametrize("json", [7, "n", ["-", ["*", "m", "n"], 1], ["max", ["//", "n", 3], "m"]])
def test_an_encoded_size_has_its_value(json: Any) -> None:
    known = {"n": 10, "m": 4}
    assert unpacked(packed_json(json, list(known)), tuple(known.values())) == evaluate(json, known)

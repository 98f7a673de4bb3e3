"""Compiled graphs against their operators: wrong graphs are named, with their operators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from dl_core.torch_backend import graph_observers
from dl_core.torch_backend.graph_observers import observe
from dl_optools.diagnosis.diagnosis import Diagnosis, Guilty
from dl_optools.diagnosis.graph_check import GraphCheck
from dl_optools.diagnosis.graphs import check_graphs
from dl_optools.diagnosis.names import GRAPHS, PROBE
from dl_optools.diagnosis.probe import OpProbe
from dl_optools.diagnosis.report import list_workarounds, verdict
from dl_optools.diagnosis.runs import Run
from dl_optools.launching.launch import REPORT

Spoil = Callable[[GraphModule, list[torch.Tensor], list[Any]], list[Any]]


def silu_and_sum(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.nn.functional.silu(x @ y), x.sum(0), torch.native_dropout(x, 0.5, True)[0]


def as_it_is(module: GraphModule, inputs: list[torch.Tensor], made: list[Any]) -> list[Any]:
    return made


def has(module: GraphModule, name: str) -> bool:
    return any(str(node.target) == name for node in module.graph.nodes)


def checked(
    work: Callable[..., Any], *inputs: torch.Tensor, graph: Spoil = as_it_is, part: Spoil = as_it_is
) -> dict[str, Any]:
    """Call a compiled graph twice under the check, optionally with faults in it and its parts."""

    def compiled(module: GraphModule, spoil: Spoil) -> Callable[[list[Any]], list[Any]]:
        def call(arguments: list[Any]) -> list[Any]:
            with torch.no_grad():
                return spoil(module, arguments, list(module(*arguments)))

        return call

    torch.manual_seed(0)
    module = make_fx(work)(*inputs)
    with GraphCheck(device="cpu") as check:
        call = observe(module, "forward", compiled(module, graph), lambda x: compiled(x, part))
        for _ in range(2):
            call([x.clone() for x in inputs])
    return check.report()


@pytest.fixture
def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    return torch.randn(3, 4), torch.randn(4, 5)


def test_a_graph_that_is_right_is_not_accused(inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    found = checked(silu_and_sum, *inputs)
    assert found == {"calls": {"compiled graph 0 (forward)": 2}, "skipped": {}, "wrong": {}}


def test_an_operator_that_is_wrong_in_graphs_is_named(
    inputs: tuple[torch.Tensor, torch.Tensor],
) -> None:
    def scaled(module: GraphModule, inputs: list[torch.Tensor], made: list[Any]) -> list[Any]:
        return [x * 1.01 for x in made] if has(module, "aten.silu.default") else made

    found = checked(silu_and_sum, *inputs, part=scaled)["wrong"]
    assert list(found) == ["aten.silu.default"]
    assert found["aten.silu.default"].endswith("aten.silu.default(float32[3, 5])")


def test_an_operator_that_repeats_its_last_result_in_graphs_is_named(
    inputs: tuple[torch.Tensor, torch.Tensor],
) -> None:
    last: list[list[Any]] = []

    def stale(module: GraphModule, inputs: list[torch.Tensor], made: list[Any]) -> list[Any]:
        if not has(module, "aten.mm.default"):
            return made
        last.append(made)
        return last[-2] if len(last) > 1 else made

    assert list(checked(silu_and_sum, *inputs, part=stale)["wrong"]) == ["aten.mm.default"]


def test_an_operator_that_overwrites_its_argument_in_graphs_is_named(
    inputs: tuple[torch.Tensor, torch.Tensor],
) -> None:
    def alias(module: GraphModule, inputs: list[torch.Tensor], made: list[Any]) -> list[Any]:
        if has(module, "aten.silu.default"):
            inputs[0].copy_(made[0])
        return made

    found = checked(silu_and_sum, *inputs, part=alias)["wrong"]
    assert found == {
        "aten.silu.default": "in a compiled graph it overwrites an argument: "
        "aten.silu.default(float32[3, 5])"
    }


def test_a_lost_sign_of_zero_in_graphs_is_named() -> None:
    def unsigned(module: GraphModule, inputs: list[torch.Tensor], made: list[Any]) -> list[Any]:
        return [x + 0.0 for x in made]

    found = checked(lambda x: (x.neg(),), torch.tensor([0.0, 1.0]), part=unsigned)
    assert list(found["wrong"]) == ["aten.neg.default"]


def test_a_graph_whose_operators_are_right_is_named_as_a_whole(
    inputs: tuple[torch.Tensor, torch.Tensor],
) -> None:
    def wrong(module: GraphModule, inputs: list[torch.Tensor], made: list[Any]) -> list[Any]:
        return [made[0], made[1] + 1, made[2]]

    found = checked(silu_and_sum, *inputs, graph=wrong)["wrong"]
    assert list(found) == ["compiled graph 0 (forward)"]
    assert "value 1 differs" in found["compiled graph 0 (forward)"]


def test_in_place_writes_of_a_graph_are_compared() -> None:
    def work(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor]:
        x.mul_(y)
        return (x.exp(),)

    def forgets(module: GraphModule, inputs: list[torch.Tensor], made: list[Any]) -> list[Any]:
        inputs[0].zero_()
        return made

    x, y = torch.ones(3), torch.full((3,), 2.0)
    assert checked(work, x, y)["wrong"] == {}
    assert list(checked(work, x, y, graph=forgets)["wrong"]) == ["compiled graph 0 (forward)"]


def test_without_the_tool_graphs_are_called_directly() -> None:
    module = make_fx(lambda x: x + 1)(torch.ones(2))
    assert graph_observers._observers == []
    assert observe(module, "forward", module.forward, lambda x: x) == module.forward


class Once:
    """Return a runner whose run reports given results of the graph check."""

    stopped = 0

    def __init__(self, run: Run) -> None:
        self._run, self.asked = run, list[str]()

    def run(self, tools: str, **variables: str) -> Run:
        self.asked.append(tools)
        return self._run


def reported(tool: str, **found: Any) -> Run:
    from json import dumps

    document = {"tool": tool, "process": 1, "rank": "", "found": {"calls": {"x": 1}, **found}}
    return Run(0, "", Path("run.log"), notes=[REPORT + dumps(document)])


def test_a_program_that_compiles_runs_once_more() -> None:
    wrong = {"aten.silu.default": "in a compiled graph its result is far off"}
    runner = Once(reported(GRAPHS, wrong=wrong, skipped={"compiled graph 1 (forward)": 3}))
    eager = reported(PROBE, compilers=["dl"])
    found = check_graphs(runner, eager, lambda _: None)  # type: ignore[arg-type]
    assert runner.asked == [GRAPHS] and found.wrong == wrong and not found.unchecked
    assert found.notes == ["compiled graph 1 (forward): 3 calls not checked"]


@pytest.mark.parametrize(
    ("used", "runs", "said"),
    [
        ([], [], ""),
        (["inductor"], [], "graphs that torch.compile compiles with inductor"),
        (["dl"], [GRAPHS], "graphs of torch.compile with dl: the program compiled nothing"),
    ],
)
def test_the_verdict_says_which_graphs_were_not_checked(
    used: list[str], runs: list[str], said: str
) -> None:
    runner = Once(Run(0, "", Path("run.log")))
    found = check_graphs(runner, reported(PROBE, compilers=used), lambda _: None)  # type: ignore[arg-type]
    assert runner.asked == runs and found.unchecked == said
    diagnosis = Diagnosis(["x"], Path(), unchecked=found.unchecked)
    rest = f" Not checked: {said}." if said else ""
    assert verdict(diagnosis) == f"No operator was found to be wrong.{rest}"


def test_operators_wrong_in_graphs_only_need_no_fallback() -> None:
    name = "aten.silu.default"
    found = Diagnosis(["python", "x.py"], Path(), guilty=[Guilty(name)], compiled={name})
    (line,) = list_workarounds(found)
    assert line.startswith("TORCH_COMPILE_DISABLE=1 runs the program without compiled graphs")


def test_the_backends_of_a_program_are_reported() -> None:
    with OpProbe(device="cpu") as probe:
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    assert "eager" in probe.report()["compilers"]

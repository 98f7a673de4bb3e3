"""OpObserve: what programs call, counted by signature."""

from __future__ import annotations

import csv
import gc
import io
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.overrides import _get_current_function_mode_stack

import dl_optools
from dl_optools import OpObserve
from dl_optools.options import OptionError


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    return {"device": "cpu", "directory": tmp_path, "stream": io.StringIO()}


def test_calls_are_counted_by_signature(options: dict[str, Any]) -> None:
    a, b = torch.ones(2, 3), torch.ones(2, 3, requires_grad=True)
    with OpObserve(**options) as tool:
        for _ in range(4):
            torch.add(a, b)
        torch.add(a, a)
        torch.add(a.t(), a.t())
        torch.add(a.double(), 1)
    adds = [x for x in tool.results.signatures if x.name == "torch.add"]
    assert [x.calls for x in adds] == [4, 1, 1, 1]
    first = adds[0]
    assert [x.shape for x in first.inputs] == [(2, 3), (2, 3)]
    assert [x.requires_grad for x in first.inputs] == [False, True]
    assert [(x.shape, x.dtype, x.requires_grad) for x in first.outputs] == [
        ((2, 3), "float32", True)
    ]
    assert adds[2].inputs[0].strides == (1, 3)
    assert [x.dtype for x in adds[3].inputs] == ["float64", ""]
    assert adds[3].inputs[1].value == "1"


def test_arguments_that_select_a_behaviour_are_distinguished(options: dict[str, Any]) -> None:
    a = torch.ones(2, 3)
    with OpObserve(**options) as tool:
        torch.sum(a, 0)
        torch.sum(a, 1)
        torch.sum(a, dim=1, keepdim=True)
        torch.nn.functional.dropout(a, 0.1)
        torch.nn.functional.dropout(a, 0.2)
    counts = {}
    for x in tool.results.signatures:
        counts.setdefault(x.name, []).append(x.calls)
    assert counts == {"torch.sum": [1, 1, 1], "torch.nn.functional.dropout": [2]}
    named = tool.results.signatures[2]
    assert [(x.place, x.value) for x in named.inputs[1:]] == [("dim", "1"), ("keepdim", "True")]


def test_lists_and_several_results(options: dict[str, Any]) -> None:
    a = torch.ones(2, 4)
    with OpObserve(**options) as tool:
        torch.cat([a, a], dim=1)
        torch.std_mean(a)
    cat, std_mean = tool.results.signatures
    assert [x.place for x in cat.inputs] == ["args[0][0]", "args[0][1]", "dim"]
    assert [x.place for x in std_mean.outputs] == ["result[0]", "result[1]"]


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_tensors_without_strides(options: dict[str, Any]) -> None:
    sparse = torch.eye(3).to_sparse_csr()
    with OpObserve(**options) as tool:
        torch.mm(sparse, torch.ones(3, 2))
    assert tool.results.signatures[0].inputs[0].strides is None


def test_a_call_that_fails_is_counted_and_raises(options: dict[str, Any]) -> None:
    with OpObserve(**options) as tool, pytest.raises(RuntimeError, match="shape"):
        torch.mm(torch.ones(2, 3), torch.ones(2, 3))
    assert [(x.calls, x.outputs) for x in tool.results.signatures] == [(1, [])]


def test_overloads_in_backward(options: dict[str, Any]) -> None:
    a = torch.ones(2, 3, requires_grad=True)
    with OpObserve(level="dispatch", ops="aten.mm.*", **options) as tool:
        torch.mm(a, torch.ones(3, 2)).sum().backward()
    assert [x.name for x in tool.results.signatures] == ["aten.mm.default", "aten.mm.default"]


def test_every_call_on_request(options: dict[str, Any], tmp_path: Path) -> None:
    a = torch.ones(2)
    with OpObserve(each_call=True, **options) as tool:
        for _ in range(2):
            torch.add(a, a)
            torch.mul(a, a)
    assert tool.results.order == [0, 1, 0, 1]
    with next(tmp_path.glob("*.csv")).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    first = [row["name"] for row in rows if row["place"] == "args[0]"]
    assert first == ["torch.add", "torch.mul", "torch.add", "torch.mul"]
    assert sorted({int(row["call"]) for row in rows}) == [0, 1, 2, 3]


def test_the_csv_file_equals_the_results(options: dict[str, Any], tmp_path: Path) -> None:
    with OpObserve(**options) as tool:
        torch.sum(torch.ones(2, 3).t(), 0)
    with next(tmp_path.glob("op_observe_info_pid*.csv")).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    of_sum = [row for row in rows if row["name"] == "torch.sum"]
    assert [(x["place"], x["shape"], x["dtype"], x["strides"], x["value"]) for x in of_sum] == [
        ("args[0]", "[3, 2]", "float32", "[1, 3]", ""),
        ("args[1]", "", "", "", "0"),
        ("result[0]", "[2]", "float32", "[1]", ""),
    ]
    assert {int(row["calls"]) for row in rows} == {1}
    shown = options["stream"].getvalue()
    assert "torch.sum" in shown and "float32[3, 2] (strides (1, 3))" in shown
    assert tool.results.table() in shown


def test_the_limit_is_kept_and_reported(options: dict[str, Any]) -> None:
    with OpObserve(limit=3, **options) as tool:
        for size in range(5):
            torch.neg(torch.ones(size))
    assert len(tool.results.signatures) == 3
    assert tool.results.left_out == 2
    assert "2 calls left out" in options["stream"].getvalue()


def test_steps_that_are_not_looked_at(options: dict[str, Any]) -> None:
    with OpObserve(every=2, **options) as tool:
        for _ in range(4):
            torch.neg(torch.ones(1))
            dl_optools.step()
    assert [(x.name, x.calls) for x in tool.results.signatures] == [("torch.neg", 2)]
    assert tool.results.spending is not None and tool.results.spending.measured == 2


def test_it_keeps_no_tensor_and_leaves_nothing(options: dict[str, Any]) -> None:
    tensor = torch.ones(100)
    watch = weakref.ref(tensor)
    tool = OpObserve(**options)
    with tool:
        torch.neg(tensor)
        del tensor
        gc.collect()
        assert watch() is None
    assert _get_current_function_mode_stack() == []


@pytest.mark.parametrize(("value", "shown"), [("1", True), ("0", False)])
def test_the_variable_shows_the_stack(
    value: str, shown: bool, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OP_TOOLS_PRINT_STACK", value)
    with OpObserve(**options):
        torch.neg(torch.ones(1))
    assert ("test_observe.py:" in options["stream"].getvalue()) is shown
    monkeypatch.setenv("OP_TOOLS_PRINT_STACK", "perhaps")
    with pytest.raises(OptionError, match="OP_TOOLS_PRINT_STACK='perhaps' is invalid"):
        OpObserve(**options)


def test_by_apply_feature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))
    before = torch.neg
    applied = dl_optools.apply_feature("torch.neg", "dump_op_args")
    tool = applied.tool
    tool.device = "cpu"
    torch.neg(torch.ones(2))
    applied.undo()
    assert torch.neg is before
    assert isinstance(tool, OpObserve)
    assert [(x.name, x.calls) for x in tool.results.signatures] == [("torch.neg", 1)]
    assert list(tmp_path.glob("op_observe_result/*.csv"))

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from torch.utils._python_dispatch import TorchDispatchMode

from dl_optools import OpOverflowCheck
from dl_optools.options import OptionError
from dl_optools.overflow.values import has_values, statistics
from watching import leaf

NAN, INF = math.nan, math.inf


@pytest.fixture
def check(tmp_path: Path) -> Any:
    def make(**options: Any) -> OpOverflowCheck:
        return OpOverflowCheck(
            **{"device": "cpu", "directory": tmp_path, "stream": io.StringIO(), **options}
        )

    return make


# Values


def test_statistics_are_those_of_the_finite_values() -> None:
    found = statistics(torch.tensor([[1.0, NAN, -2.0], [INF, 4.0, -INF]]))[0]
    assert (found.shape, found.dtype, found.device) == ((2, 3), "float32", "cpu")
    assert (found.nan, found.inf, found.finite) == (1, 2, False)
    assert found.positions == ((0, 1), (1, 0), (1, 2))
    assert (found.minimum, found.maximum, found.mean) == (-2, 4, 1)
    assert found.std == pytest.approx(math.sqrt(6)) and found.norm == pytest.approx(math.sqrt(21))


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn]
)
def test_large_values_do_not_overflow_in_the_statistics(dtype: torch.dtype) -> None:
    largest = torch.finfo(dtype).max
    found = statistics(torch.full((100,), largest, dtype=torch.float64).to(dtype))[0]
    assert found.finite and found.mean == pytest.approx(largest) and found.maximum == largest
    assert found.std == pytest.approx(0, abs=1e-3 * largest)
    if largest < 1e300:
        assert found.norm == pytest.approx(10 * largest)


@pytest.mark.parametrize(
    ("tensor", "nan", "inf", "positions"),
    [
        (torch.tensor(NAN), 1, 0, ((),)),
        (torch.tensor([complex(1, INF), complex(0, 0)]), 0, 1, ((0,),)),
        (torch.tensor([[0.0, INF]]).to_sparse(), 0, 1, ((0,),)),
        (torch.tensor([NAN]).expand(20), 20, 0, tuple((i,) for i in range(8))),
        (torch.empty(0, 3), 0, 0, ()),
    ],
    ids=str,
)
def test_positions_of_values_that_are_not_finite(
    tensor: torch.Tensor, nan: int, inf: int, positions: Any
) -> None:
    found = statistics(tensor)[0]
    assert (found.nan, found.inf, found.positions) == (nan, inf, positions)


def test_nothing_finite_leaves_no_range() -> None:
    found = statistics(torch.tensor([INF, NAN]))[0]
    assert all(map(math.isnan, (found.minimum, found.maximum, found.mean, found.std, found.norm)))


def test_tensors_without_such_values_are_passed_over() -> None:
    assert not has_values(torch.arange(3)) and not has_values(torch.ones(1, device="meta"))
    assert has_values(torch.ones(1, dtype=torch.complex64))


# The tool


def test_inputs_outputs_and_gradients_are_looked_at(check: Any) -> None:
    x, weight, bias = leaf(2, 3, 4), leaf(5, 4), leaf(5)
    with check(ops=r".*\.linear") as tool:
        F.linear(x, weight, bias).square().sum().backward()
    places = ["input 0", "input 1", "input 2", "output 0", "grad_output 0"]
    places += ["grad_input 0", "grad_input 1", "grad_input 2"]
    (values,) = tool.results.operators.values()
    (path,) = tool._directory.glob("*.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["place"] for row in rows] == places and values.tensors == 8
    assert {row["name"] for row in rows} == {"torch.nn.functional.linear"}
    assert x.grad is not None and weight.grad is not None
    assert float(rows[5]["norm"]) == pytest.approx(float(x.grad.norm()))
    assert float(rows[6]["max"]) == pytest.approx(float(weight.grad.max()))
    assert tool.results.first is None


@pytest.mark.parametrize("level", ["api", "dispatch"])
def test_the_operator_that_made_the_first_is_named(check: Any, level: str) -> None:
    x = torch.tensor([[1.0, 200.0]])
    with check(level=level) as tool:
        y = torch.exp(torch.mul(x, 2))
        z = torch.sub(y, y)
        torch.add(z, 1)
    first = tool.results.first
    assert first is not None and "exp" in first.name and not first.backward
    (made,) = first.found
    assert (made.place, made.values.inf, made.values.positions) == ("output 0", 1, ((0, 1),))
    assert first.stack[0].function.endswith("test_the_operator_that_made_the_first_is_named")
    # inf - inf is nan, but the inf was there before.
    assert len(tool.results.origins) == 1
    assert [c.values.nan for c in tool.results.findings if c.place == "output 0"] == [0, 1, 1]


def test_a_function_that_writes_in_place_is_named(check: Any) -> None:
    x = torch.tensor([1.0, 0.0])
    with check() as tool:
        x.div_(torch.zeros(2))
    first = tool.results.first
    assert first is not None and first.name == "torch.Tensor.div_"
    assert first.found[0].values.nan == 1 and first.found[0].values.inf == 1


def test_a_function_that_returns_nothing_is_named(check: Any) -> None:
    x = torch.zeros(2, dtype=torch.float16)
    with check() as tool:
        x[1] = torch.tensor(1e6)
    first = tool.results.first
    assert first is not None and first.name == "torch.Tensor.__setitem__"


def test_backward_is_named_if_forward_was_finite(check: Any) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sqrt(x)

    x = torch.tensor([0.0, 4.0], requires_grad=True)
    with check() as tool:
        Model()(x).mul(2).sum().backward()
    first = tool.results.first
    assert first is not None and (first.name, first.backward) == ("torch.sqrt", True)
    assert first.module == "Model" and first.found[0].place == "grad_input 0"
    assert any("torch.sqrt(x)" in str(frame) for frame in first.stack)
    assert "the backward of torch.sqrt" in first.text()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.masked_fill(x > 0, -INF),
        lambda x: torch.full((2,), INF),
        lambda x: torch.full_like(x, NAN),
        lambda x: torch.empty(2).fill_(INF),
        lambda x: x.new_empty(1000),
    ],
)
def test_requested_values_are_not_a_fault(check: Any, function: Any) -> None:
    with check() as tool:
        function(torch.ones(2))
    assert tool.results.first is None


def test_the_end_shows_operators_and_where_nan_came_from(check: Any, tmp_path: Path) -> None:
    stream = io.StringIO()
    with check(stream=stream):
        torch.add(torch.log(torch.tensor([-1.0])), 1)
    text = stream.getvalue()
    assert text.startswith("overflow check: 3 of 4 tensors in 2 calls hold nan or inf")
    assert "first: torch.log (call " in text and "made by: torch.log\n" in text
    assert "written to " in text
    (html,) = tmp_path.glob("*.html")
    page = html.read_text(encoding="utf-8")
    assert "3 of 4" in page and "The first one" in page and "torch.log" in page


def test_lines_are_written_while_the_program_runs(
    check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OP_TOOLS_MAX_CACHE_SIZE", "3")
    x = torch.ones(1)
    with check():
        torch.add(x, x)
        torch.add(x, x)
        (path,) = tmp_path.glob("*.csv")
        assert len(path.read_text(encoding="utf-8").splitlines()) >= 4
    assert len(path.read_text(encoding="utf-8").splitlines()) == 7


def test_variables_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OP_TOOLS_MAX_CACHE_SIZE", "many")
    with pytest.raises(OptionError, match="OP_TOOLS_MAX_CACHE_SIZE='many' is invalid"):
        OpOverflowCheck(device="cpu")


def test_lists_of_the_environment_count(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OP_OVERFLOW_CHECK_LIST", "torch.exp")
    with check() as tool:
        torch.add(torch.exp(torch.ones(1)), 1)
    assert list(tool.results.operators) == ["torch.exp"]


def test_nothing_changes_and_nothing_stays(check: Any) -> None:
    def train() -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout())
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(3, 4)).square().mean().backward()
            optimizer.step()
        return [x.detach() for x in model.parameters()]

    expected = train()
    with check() as tool:
        found = train()
        again: dict[str, int] = {name: x.bad for name, x in tool.results.operators.items()}
    assert all(map(torch.equal, found, expected)) and not any(again.values())
    x = leaf(3)
    with check():
        y = torch.log(x)
    y.backward(torch.ones(3))
    assert x.grad is not None


def test_a_saved_input_that_held_nan_made_it(check: Any) -> None:
    """Backward gets finite gradients, but computes with what forward had saved."""
    weight = torch.tensor([NAN, 1.0])
    x = torch.ones(2, requires_grad=True)
    with check() as tool:
        torch.mul(x, weight).nan_to_num().sum().backward()
    assert x.grad is not None and x.grad.isnan().any()
    assert [origin.name for origin in tool.results.origins if origin.backward] == []


def test_finite_tensors_cost_two_reductions_each(check: Any) -> None:
    """Four numbers per tensor are transferred from a device, all tensors of a call together."""

    class Calls(TorchDispatchMode):
        names: ClassVar[list[str]] = []

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            Calls.names.append(str(func))
            return func(*args, **(kwargs or {}))

    tensors = [torch.full((3,), float(x)) for x in range(3)]
    with Calls():
        found = statistics(*tensors)
    assert [each.mean for each in found] == [0.0, 1.0, 2.0]
    reductions = [x for x in Calls.names if "aminmax" in x or "var_mean" in x]
    assert len(reductions) == 6 and len(Calls.names) <= 16


def test_a_stopped_tool_starts_again(check: Any, tmp_path: Path) -> None:
    tool = check()
    for _ in range(2):
        with tool:
            torch.exp(torch.ones(1))
        assert tool.results.calls == 1
    assert len(list(tmp_path.glob("*.csv"))) == 2

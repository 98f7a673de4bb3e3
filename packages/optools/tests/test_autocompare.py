"""OpAutoCompare: comparison at both levels, sampling, results and reports."""

from __future__ import annotations

import csv
import gc
import io
import math
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from autocompare_faults import FaultyDevice
from dl_optools.compare.autocompare import OpAutoCompare
from dl_optools.compare.call_comparison import CallComparison, CheckedCall
from dl_optools.compare.results import COLUMNS
from dl_optools.names import Level

F = torch.nn.functional


def tool(**options: Any) -> OpAutoCompare:
    given: dict[str, Any] = dict(device="cpu", every=1, stream=None, csv=False, bundles=0)
    return OpAutoCompare(**{**given, **options})


def leaf(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(len(shape))
    return torch.randn(*shape, generator=generator).requires_grad_()


class Kept(OpAutoCompare):
    """Keeps every outcome."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.kept: list[CallComparison] = []

    def _judge(self, checked: CheckedCall) -> None:
        add = self.results.add

        def adding(found: CallComparison) -> bool:
            self.kept.append(found)
            return add(found)

        self.results.add = adding  # type: ignore[method-assign]
        super()._judge(checked)
        self.results.add = add  # type: ignore[method-assign]


def collect(**options: Any) -> Kept:
    given: dict[str, Any] = dict(
        device="cpu", every=1, stream=None, csv=False, bundles=0, threads=1
    )
    return Kept(**{**given, **options})


def compared(found: Kept) -> set[tuple[str, str]]:
    return {(result.name, part.output) for result in found.kept for part in result.parts}


# The level of the Python interface: gradients of all inputs


def test_gradients_of_linear_with_three_dimensions() -> None:
    with collect(level="api") as found:
        F.linear(leaf(2, 3, 4), leaf(5, 4), leaf(5)).square().sum().backward()
    name = "torch.nn.functional.linear"
    assert compared(found) >= {
        (name, output) for output in ("output 0", *(f"gradient of input {i}" for i in range(3)))
    }
    assert found.results.failures == []


def test_a_wrong_gradient_of_the_weight_is_seen() -> None:
    def wrong(f: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = f(a, b)
        return product * 1.01 if product.shape == (5, 4) else product

    with FaultyDevice("aten.mm.default", wrong), collect(level="api") as found:
        F.linear(leaf(2, 3, 4), leaf(5, 4)).square().sum().backward()
    assert found.results.guilty == ["torch.nn.functional.linear"]
    (failure,) = found.results.failures
    assert [part.output for part in failure.parts if not part.ok] == ["gradient of input 1"]
    assert failure.backward


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("torch.Tensor.split", lambda x: sum(part.square().sum() for part in x.split(2))),
        ("torch.std_mean", lambda x: sum(part.sum() for part in torch.std_mean(x, 1))),
        (
            "torch.nn.functional.cross_entropy",
            lambda x: F.cross_entropy(x, torch.tensor([0, 2, 1, 0])),
        ),
        ("torch.Tensor.mul", lambda x: x.mul(x).sum()),
        ("torch.Tensor.relu_", lambda x: (x * 1).relu_().square().sum()),
        ("torch.Tensor.__getitem__", lambda x: x[1:, ::2].square().sum()),
    ],
)
def test_gradients_of_several_outputs_views_and_writes(name: str, program: Any) -> None:
    x = leaf(4, 3)
    with collect(level="api") as found:
        program(x).backward()
    assert found.results.failures == [] and not found.results.not_comparable
    assert (name, "gradient of input 0") in compared(found)


def test_functions_that_write_are_compared_by_what_they_wrote() -> None:
    x, out = torch.ones(4), torch.empty(4)
    with collect(level="api") as found:
        x.add_(1)
        x[1:3] = 7
        torch.mul(x, 2, out=out)
    assert compared(found) == {
        ("torch.Tensor.add_", "argument 0"),
        ("torch.Tensor.__setitem__", "argument 0"),
        ("torch.mul", "argument 1"),
    }
    assert found.results.failures == []


def test_a_function_is_random_if_an_operator_inside_is() -> None:
    with collect(level="api") as found:
        F.dropout(torch.ones(9), 0.5, training=True)
        F.dropout(torch.ones(9), 0.5, training=False)
        torch.empty_like(torch.ones(3))
    reasons = dict(found.results.not_comparable.keys())
    assert "random" in reasons["torch.nn.functional.dropout"]
    assert "uninitialised" in reasons["torch.empty_like"]
    assert compared(found) == {("torch.nn.functional.dropout", "output 0")}


def test_autocast_is_part_of_the_reference() -> None:
    with collect(level="api") as found, torch.autocast("cpu", torch.bfloat16):
        F.linear(leaf(3, 64), leaf(5, 64), leaf(5)).float().sum().backward()
    assert found.results.failures == [], found.results.text()
    assert ("torch.nn.functional.linear", "gradient of input 1") in compared(found)


def test_a_graph_that_is_dropped_takes_its_arguments_along() -> None:
    with tool(level="api") as found:
        before = found._checks.kept._left
        y = torch.exp(leaf(100))
        assert found._checks.kept._left < before
        del y
        gc.collect()
        assert found._checks.kept._left == before


# The dispatcher's level


def test_written_arguments_and_statistics() -> None:
    mean, var = torch.zeros(3), torch.ones(3)
    with collect() as found:
        F.batch_norm(torch.randn(4, 3, 2), mean, var, training=True)
        torch.ones(3).add_(1)
        torch.mul(mean, 2, out=var)
    assert compared(found) >= {
        ("aten.native_batch_norm.default", "argument running_mean"),
        ("aten.add_.Tensor", "argument self"),
        ("aten.mul.out", "argument out"),
    }
    assert ("aten.add_.Tensor", "output 0") not in compared(found)


def test_operators_are_named_with_module_function_and_stack() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = torch.nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = self.head(x)
            return y

    net = Net()
    with FaultyDevice("aten.addmm.default", lambda f, *args: f(*args) + 1), tool() as found:
        net(torch.ones(4, 3))
    (failure,) = found.results.failures
    assert failure.level is Level.DISPATCH and failure.module == "head"
    assert failure.parent == "torch.nn.functional.linear"
    assert any(frame.file == __file__ for frame in failure.stack)
    assert "head" in found.results.text() and "torch.nn.functional.linear" in found.results.text()


def test_lists_of_operators_may_name_the_function_around(monkeypatch: Any) -> None:
    x, w, b = torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)
    with collect(ops="torch.nn.functional.linear") as found:
        F.linear(x, w, b)
        torch.exp(x)
    assert {name for name, _ in compared(found)} == {"aten.addmm.default"}
    monkeypatch.setenv("OP_AUTOCOMPARE_DISABLE_LIST", "torch.nn.functional.linear,aten.exp.default")
    with collect() as found:
        F.linear(x, w, b)
        torch.exp(x)
        torch.sin(x)
    assert {name for name, _ in compared(found)} == {"aten.sin.default"}


def test_arguments_are_those_from_before_the_call() -> None:
    x = torch.ones(3)
    with tool() as found:
        for _ in range(20):
            x.mul_(2).sub_(1)
    assert found.results.failures == [] and found.results.checked == 40


def test_the_program_is_not_changed() -> None:
    def run() -> list[torch.Tensor]:
        torch.manual_seed(0)
        x, w = leaf(4, 6), leaf(6, 6)
        y = F.dropout(F.layer_norm(x @ w, (6,)), 0.3).relu_()
        return [y.detach().clone(), *torch.autograd.grad(y.square().sum(), (x, w))]

    wanted = run()
    for level in ("dispatch", "api"):
        with tool(level=level):
            got = run()
        assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


def test_errors_of_the_program_pass_through() -> None:
    for level in ("dispatch", "api"):
        with tool(level=level) as found, pytest.raises(RuntimeError):
            torch.ones(2, 3) @ torch.ones(2, 3)
        assert found._background._reserved == 0


# Sampling and limits


def test_default_sampling_checks_every_signature_and_every_hundredth_call() -> None:
    with tool(every=None, budget="off") as found:
        for _ in range(250):
            torch.exp(torch.ones(3))
        torch.exp(torch.ones(4))
    results = found.results
    assert results.operators["aten.exp.default"].checked == 4
    assert results.signatures == 4 and results.calls == 502


def test_the_variable_sets_sampling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOCOMPARE_EVERY", "2")
    assert tool(every=None).sampler.every == 2


def test_calls_beyond_the_limit_are_dropped_and_reported() -> None:
    with tool(memory=1 << 12) as found:
        torch.exp(torch.ones(10))
        torch.exp(torch.ones(1 << 12))
    assert found.results.operators["aten.exp.default"].checked == 1
    assert found.results.dropped["aten.exp.default"] == 1
    assert "1 calls were not checked because memory was full" in found.results.text()


def test_no_tensor_outlives_its_comparison() -> None:
    x = torch.ones(5)
    alive = weakref.ref(x)
    with tool() as found:
        torch.exp(x)
        del x
        found._background.drain()
        gc.collect()
        assert alive() is None


# Tolerances and other references


def test_a_tolerance_takes_the_place_of_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> OpAutoCompare:
        with FaultyDevice("aten.exp.default", lambda f, x: f(x) * 1.01), tool() as found:
            torch.exp(torch.ones(3))
        return found

    assert run().results.guilty == ["aten.exp.default"]
    monkeypatch.setenv("EXP_AUTOCOMPARE_ERROR_TOLERANCE_FLOAT32", "0,0.1")
    assert run().results.failures == []
    monkeypatch.setenv("EXP_AUTOCOMPARE_ERROR_TOLERANCE_FLOAT32", "0,0.001")
    (failure,) = run().results.failures
    assert failure.parts[0].tolerance == (0, 0.001) and failure.units == pytest.approx(10, rel=0.1)


def test_the_reference_is_computed_in_the_dtype_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[torch.dtype] = []

    def on_failure(call: CheckedCall, found: CallComparison) -> None:
        seen.append(call.subject.run(call.tree)[0].dtype)

    monkeypatch.setenv("OP_DTYPE_CAST_DICT", "torch.float16->torch.float32")
    with tool(on_failure=on_failure) as found:
        torch.exp(torch.ones(3, dtype=torch.float16))
    assert found.results.failures == [] and found.results.checked == 2
    with FaultyDevice("aten.exp.default", lambda f, x: f(x) * 1.1), tool(on_failure=on_failure):
        torch.exp(torch.ones(3, dtype=torch.float16))
    assert seen == [torch.float16]


def test_every_compared_call_is_passed_on() -> None:
    seen: list[tuple[str, bool]] = []

    def on_result(call: CheckedCall, found: CallComparison) -> None:
        seen.append((call.name, found.ok))

    x = torch.ones(3)
    fault = FaultyDevice("aten.exp.default", lambda f, x: f(x) * 1.1)
    with fault, tool(on_result=on_result) as found:
        torch.exp(x).neg()
        torch.rand(3)
    assert sorted(seen) == [("aten.exp.default", False), ("aten.neg.default", True)]
    assert found.results.checked == 2


# Results


def test_a_nan_in_the_first_of_several_outputs() -> None:
    def wrong(f: Any, *args: Any) -> Any:
        out, mean, rstd = f(*args)
        return out * math.nan, mean, rstd

    with FaultyDevice("aten.native_layer_norm.default", wrong), tool() as found:
        F.layer_norm(torch.randn(3, 4), (4,))
    (failure,) = found.results.failures
    assert failure.max_abs == math.inf and failure.units == math.inf
    assert [part.ok for part in failure.parts] == [False, True, True]


def test_the_worst_cosine_counts() -> None:
    def wrong(f: Any, *args: Any) -> Any:
        out, mean, rstd = f(*args)
        return out, mean, -rstd

    with FaultyDevice("aten.native_layer_norm.default", wrong), tool() as found:
        F.layer_norm(torch.randn(3, 4), (4,))
    assert found.results.failures[0].cosine == pytest.approx(-1)


def test_failures_reach_the_callback_the_stream_and_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))
    stream, calls = io.StringIO(), []

    def on_failure(call: CheckedCall, found: CallComparison) -> None:
        calls.append((call.tree, found))

    fault = FaultyDevice("aten.exp.default", lambda f, x: f(x) + 1)
    with fault, tool(stream=stream, csv=True, on_failure=on_failure):
        torch.exp(torch.zeros(3))
        torch.sin(torch.zeros(3))
    ((tree, found),) = calls
    assert found.name == "aten.exp.default" and torch.equal(tree[0][0], torch.zeros(3))
    assert stream.getvalue().count("3 of 3 elements differ") == 2
    (file,) = (tmp_path / "op_autocompare_result").glob("op_autocompare_info_pid*.csv")
    with file.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    assert tuple(rows[0]) == COLUMNS
    by_name = {row["name"]: row for row in rows}
    assert by_name["aten.exp.default"]["allclose"] == "False"
    assert float(by_name["aten.exp.default"]["max_abs_diff"]) == 1
    assert by_name["aten.sin.default"]["allclose"] == "True"


def test_a_callback_that_fails_stops_nothing() -> None:
    def on_failure(call: CheckedCall, found: CallComparison) -> None:
        raise OSError("no space left")

    fault = FaultyDevice("aten.exp.default", lambda f, x: f(x) + 1)
    with fault, tool(on_failure=on_failure) as found:
        torch.exp(torch.zeros(3))
        torch.sin(torch.zeros(3))
    assert found.results.guilty == ["aten.exp.default"] and found.results.checked == 4
    assert any("no space left" in reason for _, reason in found.results.not_comparable)

"""If Inductor cannot compile a graph, the default engine runs it and reports why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from agreement import assert_agree
from dl_core import _C
from dl_dicp import statistics
from dl_dicp.engines.inductor import compiling, host_graph
from dl_dicp.engines.inductor.reasons import why_out_of_reach
from dl_dicp.reports.explain import explain
from test_inductor import chain, compile_, runs, vector

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")


def run_both(run: Callable[..., Any], times: int = 3) -> None:
    for _ in range(times):
        x, y = vector(), vector()
        assert_agree(run(x, y), chain(x, y))


def ran_by_default(reason: str) -> bool:
    """Return True if the default engine ran, and the reason is reported."""
    (((engine, why), count),) = statistics.dropped.items()
    told = f"no graph engine inductor: {why}" in explain()
    return engine == "inductor" and count == 1 and reason in why and told and statistics.graphs > 0


def test_a_device_with_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    info = {**_C.device_info(0), "vendor": "far", "host_accessible": False}
    monkeypatch.setattr(_C, "device_info", lambda _: info)
    run = compile_(chain)
    with pytest.warns(RuntimeWarning, match=r"dl:0 \(vendor far\) has memory of its own"):
        run_both(run)
    assert ran_by_default("no Triton") and not runs()


def test_a_device_that_computes_while_the_host_goes_on() -> None:
    info = {"vendor": "late", "host_accessible": True, "synchronous": False}
    assert "computes asynchronously" in why_out_of_reach(info)
    assert not why_out_of_reach({**info, "synchronous": True})


def test_places_counted_from_the_start_of_memory() -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        return x.as_strided((4,), (1,), 2) + y[:4]

    run = compile_(function)
    memory, y = torch.arange(32.0, device="dl"), torch.zeros(8, device="dl")
    for start in (0, 8, 16):
        x = memory[start : start + 8]
        assert torch.equal(run(x, y).cpu(), function(x, y).cpu())
    assert runs() == 1


def test_no_compiler() -> None:
    run = compile_(chain)
    with (
        torch._inductor.config.patch({"cpp.cxx": ("no-such-compiler",)}),
        pytest.warns(RuntimeWarning, match=r"finds no C\+\+ compiler .* install g\+\+"),
    ):
        run_both(run)
    assert ran_by_default("CXX") and not runs()


def test_a_graph_that_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._inductor.compile_fx

    def failing(*_: Any, **__: Any) -> Any:
        raise OSError("the disk is full\nand more")

    monkeypatch.setattr(torch._inductor.compile_fx, "compile_fx_inner", failing)
    run = compile_(chain)
    with pytest.warns(RuntimeWarning, match="did not compile it: OSError: the disk is full. The"):
        run_both(run)
    assert ran_by_default("the disk is full") and not runs()


def test_a_backward_graph_that_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._inductor.compile_fx as module

    true = module.compile_fx_inner

    def failing(*given: Any, **named: Any) -> Any:
        if named.get("is_backward"):
            raise OSError("the disk is full")
        return true(*given, **named)

    monkeypatch.setattr(module, "compile_fx_inner", failing)
    with pytest.warns(RuntimeWarning, match="the disk is full"):
        train()
    assert ran_by_default("the disk is full") and runs() == 3


def train() -> None:
    """Run three training steps, compiled and eager."""
    model = nn.Sequential(nn.Linear(8, 6), nn.LayerNorm(6), nn.GELU(), nn.Linear(6, 3)).to("dl")
    run = compile_(model)
    for _ in range(3):
        x = vector(5, 8).requires_grad_()
        y = x.detach().clone().requires_grad_()
        run(x).square().sum().backward()
        model(y).square().sum().backward()
        assert_agree(x.grad, y.grad)


def swapped(monkeypatch: pytest.MonkeyPatch, operator: Any, other: Any) -> None:
    """Make the CPU graph compute another operator."""
    true = host_graph._move

    def wrong(copy: Any, node: Any) -> None:
        true(copy, node)
        if node.target is operator:
            copy.target = other

    monkeypatch.setattr(host_graph, "_move", wrong)


def test_a_wrong_graph_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    swapped(monkeypatch, torch.ops.aten.tanh.default, torch.ops.aten.sin.default)
    run = compile_(chain)
    with pytest.warns(RuntimeWarning, match="value 0 of its graph differs from that of the eager"):
        run_both(run)
    assert ran_by_default("value 0") and not runs()


def test_a_wrong_operator_is_not_caught_without_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    swapped(monkeypatch, torch.ops.aten.tanh.default, torch.ops.aten.sin.default)
    run = compile_(chain, check=False)
    x, y = vector(), vector()
    assert torch.allclose(run(x, y).cpu(), ((x * y).exp() - y).cpu().sin(), atol=1e-6)
    assert runs() == 1 and "not compared with eager mode" in explain()


def test_a_wrong_write_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        x.mul_(y)
        return y + 1

    swapped(monkeypatch, torch.ops.aten.mul.Tensor, torch.ops.aten.add.Tensor)
    run = compile_(function)

    def both() -> None:
        for _ in range(3):
            x, y = vector(), vector()
            other = x.clone()
            assert_agree(run(x, y), function(other, y))
            assert torch.equal(x.cpu(), other.cpu())

    with pytest.warns(RuntimeWarning, match="differs from that of the eager run"):
        both()
    assert not runs()


def test_a_wrong_forward_graph_takes_the_backward_graph_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The backward graph would be compiled for the strides of the wrong forward graph's results."""
    swapped(monkeypatch, torch.ops.aten.erf.default, torch.ops.aten.sin.default)
    with pytest.warns(RuntimeWarning, match="differs from that of the eager run"):
        train()
    assert not runs() and statistics.graphs > 0
    assert any("Inductor does not run its forward graph" in why for _, why in statistics.dropped)


def test_random_numbers_are_the_devices() -> None:
    """Dropout in training runs in the default engine and draws the same numbers as eager mode."""
    model = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.5)).to("dl")
    run = compile_(model)
    x = vector(4, 8)
    made = []
    for function in (run, run, run, model):
        torch.manual_seed(7)
        made.append(function(x).detach().cpu())
    assert all(torch.equal(each == 0, made[-1] == 0) for each in made)
    assert all(torch.allclose(each, made[-1], atol=1e-5) for each in made)
    assert ran_by_default("it draws random numbers") and not runs()


def test_the_same_model_in_inference_is_inductors() -> None:
    model = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.5)).to("dl").eval()
    run = compile_(model)
    with torch.no_grad():
        x = vector(4, 8)
        assert_agree(run(x), model(x))
    assert runs() == 1 and not statistics.dropped


def test_random_numbers_of_inference() -> None:
    run = compile_(lambda x: x + torch.rand_like(x))
    x = vector()
    torch.manual_seed(3)
    wanted = (x + torch.rand_like(x)).cpu()
    for _ in range(3):
        torch.manual_seed(3)
        assert torch.equal(run(x).cpu(), wanted)
    assert ran_by_default("it draws random numbers") and not runs()


def test_attention_that_trains_its_mask() -> None:
    def function(x: Tensor, mask: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(x, x, x, mask)

    run = compile_(function)
    x = vector(1, 2, 4, 8).requires_grad_()
    grads = []
    for each in (run, run, function):
        mask = torch.zeros(4, 4, device="dl", requires_grad=True)
        each(x, mask).square().sum().backward()
        grads.append(mask.grad)
    assert_agree(grads[0], grads[-1])
    assert_agree(grads[1], grads[-1])
    # The forward graph has one: only the backward graph shows that the mask gets a gradient.
    assert ran_by_default("no counterpart on the CPU") and runs() == 2


def test_wrong_arguments_are_reported_and_nothing_is_dropped() -> None:
    run = compile_(lambda table, rows: F.embedding(rows, table) * 2)
    table = vector(5, 3)
    run(table, torch.tensor([1, 4], device="dl"))
    with pytest.raises((RuntimeError, IndexError)):
        run(table, torch.tensor([1, 9], device="dl"))
    again = run(table, torch.tensor([0, 2], device="dl"))
    assert torch.equal(again.cpu(), table.cpu()[[0, 2]] * 2)
    assert runs() == 2 and not statistics.dropped


def test_a_later_failure_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _C.HostCall
    calls = []

    def failing(device: int, function: Callable[..., Any], *others: Any) -> Any:
        def inner(given: list[Any]) -> list[Any]:
            calls.append(len(given))
            if len(calls) == 3:
                raise MemoryError("no memory")
            return function(given)  # type: ignore[no-any-return]

        return made(device, inner, *others)

    monkeypatch.setattr(_C, "HostCall", failing)
    run = compile_(chain)
    with pytest.warns(RuntimeWarning, match="it failed: MemoryError: no memory"):
        run_both(run, 5)
    assert runs() == 2 and len(calls) == 3
    assert ran_by_default("no memory")


def test_graphs_of_the_cpu_are_not_the_engines() -> None:
    run = compile_(chain)
    x, y = torch.ones(3), torch.full((3,), 2.0)
    assert torch.equal(run(x, y), chain(x, y))
    assert list(statistics.dropped) == [("inductor", "no argument is a dl tensor")]


def test_it_compiles_nothing_before_it_declines(monkeypatch: pytest.MonkeyPatch) -> None:
    def untimely(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(compiling, "host_graph", untimely)
    run = compile_(lambda x: F.dropout(x, 0.5))
    run(vector())
    assert list(statistics.dropped.values()) == [1] and "random" in str(statistics.dropped)

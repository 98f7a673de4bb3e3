"""Graphs that torch's Inductor compiles for the CPU and runs in the memory of the device."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from agreement import assert_agree
from dicp_models import MODELS, on_dl
from dl_core import _C
from dl_dicp import statistics
from dl_dicp.engines import names
from dl_dicp.program.rounding import _rounded
from dl_dicp.reports.explain import explain

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")

OPTIONS: dict[str, Any] = {"engine": "inductor"}


def compile_(function: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    return torch.compile(  # type: ignore[no-any-return]
        function, backend="dl", options={**OPTIONS, **settings}
    )


def vector(*shape: int) -> Tensor:
    return torch.randn(*shape or (8,)).to("dl")


def runs() -> int:
    return statistics.engine_runs["inductor"]


def chain(x: Tensor, y: Tensor) -> Tensor:
    return ((x * y).exp() - y).tanh()


def all_by_inductor() -> bool:
    """Return True if only Inductor ran."""
    others = (statistics.graphs, statistics.eager, statistics.dropped, statistics.host_calls)
    return runs() > 0 and not any(others)


def test_its_name_is_known() -> None:
    assert "inductor" in names.names() and names.is_known("inductor")
    assert "inductor" not in names.contributed()


def test_kernels_of_inductor_run_in_the_memory_of_the_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is copied: addresses are the same on both sides of the call."""
    inside: list[tuple[list[int], list[int]]] = []
    made = _C.HostCall

    def watched(device: int, function: Callable[..., Any], *others: Any) -> Any:
        def inner(given: list[Any]) -> list[Any]:
            assert all(each.device.type == "cpu" for each in given)
            taken = [each.data_ptr() for each in given]
            results = function(given)
            inside.append((taken, [each.data_ptr() for each in results]))
            return results

        return made(device, inner, *others)

    monkeypatch.setattr(_C, "HostCall", watched)
    from torch._inductor import metrics

    metrics.reset()
    run = compile_(chain)
    x, y = vector(), vector()
    for _ in range(3):
        result = run(x, y)
        assert result.device == x.device
        assert inside[-1] == ([x.data_ptr(), y.data_ptr()], [result.data_ptr()])
        assert_agree(result, chain(x, y))
    assert metrics.generated_kernel_count == 1
    assert runs() == 3 and all_by_inductor()
    assert statistics.compiled == 1
    said = f"graph engine inductor {torch.__version__}, which agreed with eager mode"
    assert said in explain()


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    model, inputs = on_dl(name)
    model.eval()
    run = compile_(model)
    with torch.no_grad():
        for _ in range(2):
            assert_agree(run(*inputs), model(*inputs))
    assert all_by_inductor(), explain()


@pytest.mark.parametrize("name", ["encoder", "decoder", "residual"])
def test_training(name: str) -> None:
    """Gradients, buffers and three optimizer steps agree with eager mode."""
    (one, inputs), (other, _) = on_dl(name), on_dl(name)
    other.load_state_dict(one.state_dict())
    run = compile_(one)
    ways = [(run, one, torch.optim.SGD(one.parameters(), 0.01))]
    ways.append((other, other, torch.optim.SGD(other.parameters(), 0.01)))
    for _ in range(3):
        for function, model, optimizer in ways:
            model.zero_grad()
            function(*inputs).square().mean().backward()
            if model is other:
                for a, b in zip(one.parameters(), other.parameters(), strict=True):
                    assert_near(a.grad, b.grad)
            optimizer.step()
    for a, b in zip(one.buffers(), other.buffers(), strict=True):
        assert_near(a, b)
    assert all_by_inductor(), explain()
    assert runs() == 6


def assert_near(actual: Tensor | None, wanted: Tensor | None) -> None:
    """Compare after training steps, in which rounding errors have accumulated."""
    assert actual is not None and wanted is not None
    torch.testing.assert_close(actual.cpu(), wanted.cpu(), rtol=1e-4, atol=1e-5)


def test_one_graph_serves_lengths_that_vary() -> None:
    run = torch.compile(chain, backend="dl", dynamic=True, options=OPTIONS)
    for length in (4, 7, 9, 4, 16):
        x, y = vector(length, 3), vector(length, 3)
        assert_agree(run(x, y), chain(x, y))
    assert statistics.compiled == 1
    assert runs() == 5 and all_by_inductor()


def test_training_at_lengths_that_vary() -> None:
    model = nn.Sequential(nn.Linear(6, 5), nn.LayerNorm(5), nn.GELU()).to("dl")
    run = torch.compile(model, backend="dl", dynamic=True, options=OPTIONS)
    for rows in (4, 7, 9, 4):
        x = vector(rows, 6).requires_grad_()
        y = x.detach().clone().requires_grad_()
        run(x).square().sum().backward()
        model(y).square().sum().backward()
        assert_agree(x.grad, y.grad)
    assert runs() == 8 and all_by_inductor()


def test_an_operator_whose_rule_asks_for_a_code_generator() -> None:
    def function(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
        return x.masked_scatter(mask, source) * 2

    run = compile_(function)
    x, source, mask = vector(), vector(), vector() > 0
    for _ in range(2):
        assert_agree(run(x, mask, source), function(x, mask, source))
    assert runs() == 2 and all_by_inductor()


def test_graph_breaks() -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        total = (x * y).sum()
        return x.exp() if total.item() > 0 else chain(x, y)

    run = compile_(function)
    for _ in range(4):
        x, y = vector(), vector()
        assert_agree(run(x, y), function(x, y))
    assert all_by_inductor()


@pytest.mark.parametrize(
    ("causal", "masked", "heads"), [(False, False, 4), (True, False, 2), (False, True, 4)]
)
def test_attention_is_the_cpus(causal: bool, masked: bool, heads: int) -> None:
    """Including grouped-query attention, with and without a mask."""
    mask = torch.zeros(5, 5).masked_fill(torch.rand(5, 5) > 0.7, -9.0).to("dl") if masked else None

    def function(*parts: Tensor) -> Tensor:
        q, k, v = (part.transpose(1, 2) for part in parts)
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, enable_gqa=heads < 4)

    run = compile_(function)
    for _ in range(2):
        one = [vector(2, 5, each, 8).requires_grad_() for each in (4, heads, heads)]
        other = [each.detach().clone().requires_grad_() for each in one]
        made, wanted = run(*one), function(*other)
        assert_agree(made, wanted)
        made.square().sum().backward()
        wanted.square().sum().backward()
        for a, b in zip(one, other, strict=True):
            assert_agree(a.grad, b.grad)
    assert runs() == 4 and all_by_inductor(), explain()


def test_half_precision() -> None:
    model, inputs = on_dl("encoder")
    model.eval()
    run = compile_(model)
    with torch.no_grad(), torch.autocast("dl", torch.bfloat16):
        for _ in range(2):
            # Inductor does not round to half precision between operators.
            made, wanted = run(*inputs), model(*inputs)
            torch.testing.assert_close(made.cpu(), wanted.cpu(), rtol=0, atol=0.03)
    assert all_by_inductor(), explain()


def test_threads_share_a_graph() -> None:
    run = compile_(chain)
    given = [(vector(), vector()) for _ in range(4)]
    wanted = [chain(*each).cpu() for each in given]
    run(*given[0])
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(200):
            made = run(*given[number]).cpu()
            if not torch.allclose(made, wanted[number], rtol=0, atol=1e-6):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and runs() == 801


def test_an_expanded_tensor_is_compared() -> None:
    """The comparison perturbs an expanded weight without writing to overlapping elements."""
    wide = torch.randn(1, 16).to("dl").expand(32, 16)
    generator = torch.Generator().manual_seed(0)
    made = _rounded(wide, 1e-3, generator)
    assert made.shape == wide.shape and made.stride() == wide.stride()
    apart = (made - wide).abs() / wide.abs()
    assert float(apart.max()) < 2e-3 and float(apart.min()) > 5e-4

"""An operator that changes a read-only argument is blamed, and no other operator."""

from __future__ import annotations

from typing import Any

import torch

from faulty_device import compared, probed


def overwrite(at: int) -> Any:
    """Return a correct result, but change an argument."""

    def compute(func: Any, args: Any, kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        args[at].detach().add_(0.5)
        return result

    return compute


def train() -> None:
    layer = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(2):
        x = torch.randn(5, 6)
        layer(x + x.tanh()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def test_an_overwritten_argument_accuses_the_operator_alone() -> None:
    for name in ("aten.gelu.default", "aten.tanh.default", "aten.gelu_backward.default"):
        tool = compared(train, name, instead=overwrite(0))
        assert tool.results.guilty == [name]
        assert "the call changed it" in tool.results.failures[0].detail
        assert set(probed(train, name, instead=overwrite(0))["wrong"]) <= {name}


def test_an_operator_in_place_may_not_change_its_other_arguments() -> None:
    def work() -> None:
        torch.ones(9).add_(torch.ones(9))

    tool = compared(work, "aten.add_.Tensor", instead=overwrite(1))
    assert tool.results.guilty == ["aten.add_.Tensor"]


def test_written_arguments_and_their_aliases_may_change() -> None:
    def work() -> None:
        x = torch.randn(4, 4)
        x.add_(x), x[1].copy_(x[0]), torch.add(x, x, out=x)
        torch.native_batch_norm(
            torch.randn(4, 3, 2), None, None, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5
        )
        torch.tensor([float("nan"), -0.0]).exp()

    assert compared(work).results.guilty == []
    assert compared(train).results.guilty == []


def test_views_that_no_schema_declares_are_not_overwritten_arguments() -> None:
    """Rounding noise in a result is also in the tensor that the result is a view of."""

    def noisy(result: Any) -> Any:
        parts = result if isinstance(result, (list, tuple)) else (result,)
        for part in parts:
            part.detach().mul_(1 + 2**-23)
        return result

    x = torch.randn(4, 6)
    for name, call in {
        "aten._unsafe_view.default": lambda: torch.ops.aten._unsafe_view(x, [6, 4]),
        "aten.unsafe_split.Tensor": lambda: torch.unsafe_split(x, 2),
    }.items():
        assert "argument" not in str(compared(call, name, noisy).results.failures)


def test_a_gradient_may_use_up_the_workspace_of_its_library() -> None:
    cell = torch.nn.LSTM(6, 8)
    tool = compared(lambda: cell(torch.randn(3, 2, 6))[0].sum().backward())
    assert tool.results.guilty == []

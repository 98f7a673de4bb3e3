"""Tests of the sweep itself, with operators that each have one fault on dl."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from dl_torch_tests.opinfo.operators import Judgement
from dl_torch_tests.opinfo.sweep import Arguments, compare_calls

Function = Callable[[torch.Tensor], Any]


def judge(on_cpu: Function, on_dl: Function, tensor: torch.Tensor | None = None) -> str | None:
    """Return what the sweep reports for a function that differs on dl."""
    if tensor is None:
        tensor = torch.linspace(0.5, 2, 24).reshape(4, 6)

    def call(arguments: Arguments) -> Any:
        first = arguments[0]
        return (on_cpu if first.device.type == "cpu" else on_dl)(first)

    return compare_calls(call, (tensor, (), {}), Judgement(independent=True), "dl")[0]


def test_what_is_right_passes(vendor: str) -> None:
    assert judge(torch.exp, torch.exp) is None


def one_element_off(x: torch.Tensor) -> torch.Tensor:
    result = torch.exp(x.cpu())
    result[2, 3] *= 1 + 2e-6
    return result.to(x.device)


def with_side_effect(x: torch.Tensor) -> torch.Tensor:
    x[0, 0] = 0.75
    return torch.exp(x.clone().fill_(1))


@pytest.mark.parametrize(
    ("on_cpu", "on_dl", "said"),
    [
        pytest.param(torch.exp, one_element_off, "1 of 24 elements differs", id="value"),
        pytest.param(torch.exp, lambda x: torch.exp(x).cpu(), "device is cpu", id="device"),
        pytest.param(torch.exp, lambda x: torch.exp(x.double()), "dtype is", id="dtype"),
        pytest.param(torch.exp, lambda x: torch.exp(x)[:-1], "shape is", id="shape"),
        pytest.param(torch.exp, lambda x: (torch.exp(x),), "the result is", id="structure"),
        pytest.param(
            torch.exp, lambda x: torch.exp(x).t().contiguous().t(), "strides is", id="strides"
        ),
        pytest.param(
            lambda x: x.sum(1, keepdim=True).repeat(1, 3),
            lambda x: x.sum(1, keepdim=True).expand(-1, 3),
            "strides is",
            id="overlapping",
        ),
        pytest.param(lambda x: x[1:], lambda x: x[1:].clone(), "shares memory", id="copied view"),
        pytest.param(lambda x: x.clone(), lambda x: x.view(4, 6), "shares memory", id="alias"),
        pytest.param(lambda x: x[1:], lambda x: x[:-1], "shares memory", id="offset"),
        pytest.param(
            lambda x: torch.exp(x.clone().fill_(1)), with_side_effect, "argument 0", id="written"
        ),
        pytest.param(lambda x: x.add_(1), lambda x: x, "output 0", id="not written"),
        pytest.param(lambda x: x.argmax(), lambda x: x.argmin(), "1 of 1", id="integers"),
        pytest.param(lambda x: x.sum().item(), lambda x: 1.0, "1.0, want", id="number"),
        pytest.param(torch.exp, lambda x: torch.exp(x, out=1), "raises", id="raises"),
        pytest.param(lambda x: x.view(5), torch.exp, "does not raise", id="does not raise"),
        pytest.param(torch.rand_like, torch.zeros_like, "every seed", id="constant"),
        pytest.param(torch.rand_like, torch.randn_like, "distributed unlike", id="distribution"),
        pytest.param(
            torch.rand_like,
            lambda x: torch.rand(x.shape, generator=torch.Generator().manual_seed(id(x))).to(x),
            "same seed",
            id="seed",
        ),
    ],
)
def test_what_is_wrong_is_found(vendor: str, on_cpu: Function, on_dl: Function, said: str) -> None:
    found = judge(on_cpu, on_dl)
    assert found is not None and said in found


def test_floor_gets_no_allowance_at_an_integer(vendor: str) -> None:
    """The slope is infinite there, and an unbounded allowance would accept anything."""
    found = judge(torch.floor, lambda x: torch.floor(x) - 1, torch.arange(4.0))
    assert found is not None and "4 of 4" in found


def test_cancellation_is_judged_by_what_cancels(vendor: str) -> None:
    terms = torch.tensor([1e4, 1.0, -1e4])
    assert judge(torch.sum, lambda x: torch.sum(x) + 1e-3, terms) is None
    found = judge(torch.sum, lambda x: torch.sum(x) + 0.1, terms)
    assert found is not None and "1 of 1" in found

"""A zero with the wrong sign is wrong where a move, IEEE 754 or Annex F of C defines the sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from faulty_device import compared

X = torch.tensor([0.0, -0.0, 1.0, -2.0, 3.0, -0.3])
ONES = torch.ones(6)

DEFINED: dict[str, Callable[[], Any]] = {
    "aten.add.Tensor": lambda: X + torch.tensor([-0.0]),
    "aten.atan.default": lambda: X.atan(),
    "aten.cat.default": lambda: torch.cat([X, X]),
    "aten.ceil.default": lambda: X.ceil(),
    "aten.clone.default": lambda: X.clone(),
    "aten.copy_.default": lambda: torch.empty(6).copy_(X),
    "aten.copysign.Tensor": lambda: torch.copysign(X, -ONES),
    "aten.div.Tensor": lambda: X / 3,
    "aten.expm1.default": lambda: X.expm1(),
    "aten.flip.default": lambda: X.flip(0),
    "aten.index_select.default": lambda: X.index_select(0, torch.tensor([1, 0])),
    "aten.mul.Tensor": lambda: X * -1,
    "aten.threshold.default": lambda: torch.nn.functional.threshold(X, 0.5, -0.0),
    "aten.neg.default": lambda: -X,
    "aten.round.default": lambda: X.round(),
    "aten.sin.default": lambda: X.sin(),
    "aten.sqrt.default": lambda: X.abs().neg().clamp(min=0).mul(-1).sqrt(),
    "aten.sub.Tensor": lambda: X - 0,
    "aten.tanh.default": lambda: X.tanh(),
    "aten.where.self": lambda: torch.where(X > 1, ONES, X),
}


def unsigned(x: torch.Tensor) -> torch.Tensor:
    """Change negative zeros to positive ones."""
    return x.copy_(torch.where(x == 0, 0.0, x))


@pytest.mark.parametrize("name", list(DEFINED))
def test_a_lost_sign_of_zero_is_a_wrong_result(name: str) -> None:
    assert compared(DEFINED[name]).results.guilty == []
    tool = compared(DEFINED[name], name, unsigned)
    assert tool.results.guilty == [name]
    assert "zeros with the wrong sign" in tool.results.failures[0].detail


def test_undefined_signs_of_zeros_accuse_no_operator() -> None:
    def flip_signs(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x == 0, -x, x)

    calls: dict[str, Callable[[], Any]] = {
        "aten.amax.default": lambda: X[:2].amax(),
        "aten.gelu.default": lambda: torch.nn.functional.gelu(X - 20),
        "aten.maximum.default": lambda: torch.maximum(X, -X),
        "aten.mm.default": lambda: torch.zeros(2, 2) @ torch.zeros(2, 2),
        "aten.relu.default": lambda: X[:3].relu(),
        "aten.sum.default": lambda: X[:2].sum(),
    }
    for name, call in calls.items():
        assert compared(call, name, flip_signs).results.guilty == []


@pytest.mark.parametrize("name", ["relu", "tril", "clamp"])
def test_zeros_in_place_of_other_numbers_are_positive(name: str) -> None:
    """A product with a mask turns negative numbers into negative zeros."""
    calls = {
        "relu": (lambda: X.relu()),
        "tril": (lambda: (X[2:6].view(2, 2) - 5).tril()),
        "clamp": (lambda: X.clamp(0, 1)),
    }

    def masked(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x == 0, -0.0, x)

    overload = f"aten.{name}.default"
    assert compared(calls[name]).results.guilty == []
    assert compared(calls[name], overload, masked).results.guilty == [overload]

"""Scalars with half precision: torch's CPU rounds some to the dtype before it computes, and so does
dl.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

HALVES = (torch.float16, torch.bfloat16)
NUMBERS = (0.1, 1.3, -0.7, 1e-3, 3.0009765, 100.3, 1.00048828125001, 7, -3, 1 / 3, 2049.5)

Call = Callable[[torch.Tensor, Any], torch.Tensor]
CALLS: dict[str, Call] = {
    "add": lambda x, y: x + y,
    "add in place": lambda x, y: x.clone().add_(y),
    "sub": lambda x, y: x - y,
    "sub from": lambda x, y: y - x,
    "mul": lambda x, y: x * y,
    "mul of a CPU tensor": lambda x, y: torch.mul(torch.tensor(y), x),
    "mul of a list": lambda x, y: torch._foreach_mul([x], y)[0],
    "mul of a list in place": lambda x, y: foreach_mul_(x.clone(), y),
    "div": lambda x, y: x / y,
    "truncated div": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "floored div": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "floored div of a number": lambda x, y: y // x,
    "remainder": torch.remainder,
    "remainder of a number": lambda x, y: torch.remainder(y, x),
    "remainder in place": lambda x, y: x.clone().remainder_(y),
    "remainder by a CPU tensor": lambda x, y: torch.remainder(x, torch.tensor(y)),
    "fmod": torch.fmod,
    "fmod by a CPU tensor": lambda x, y: torch.fmod(x, torch.tensor(y)),
    "eq": lambda x, y: x == y,
    "lt": lambda x, y: x < y,
    "clamp": torch.clamp,
    "maximum": lambda x, y: torch.maximum(x, torch.tensor(y)),
    "hardshrink": functional.hardshrink,
    "truncated div of tensors": lambda x, y: torch.div(x, x.flip(0) * y, rounding_mode="trunc"),
    "floored div of tensors": lambda x, y: torch.div(x, x.flip(0) * y, rounding_mode="floor"),
}


def foreach_mul_(x: torch.Tensor, number: Any) -> torch.Tensor:
    torch._foreach_mul_([x], number)
    return x


def elements(dtype: torch.dtype) -> torch.Tensor:
    draw = torch.Generator().manual_seed(4)
    small, large = torch.randn(2, 500, generator=draw) * torch.tensor([[4.0], [300.0]])
    return torch.cat([small, large, torch.tensor(NUMBERS), torch.arange(-9.0, 9.0)]).to(dtype)


def same(got: torch.Tensor, want: torch.Tensor) -> bool:
    return torch.equal(got.cpu().nan_to_num(77), want.nan_to_num(77))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_results_are_those_of_the_cpu(call: Call, dtype: torch.dtype) -> None:
    x = elements(dtype)
    for number in NUMBERS:
        assert same(call(x.to("dl"), number), call(x, number)), number


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_the_factor_of_a_sum_is_rounded(dtype: torch.dtype) -> None:
    # Products by powers of two are exact.
    x, y = elements(dtype), 2.0 ** torch.arange(-4, 5).to(dtype).reshape(-1, 1)
    for number in NUMBERS:
        for function in (torch.add, torch.sub):
            want = function(x, y, alpha=number)
            assert same(function(x.to("dl"), y.to("dl"), alpha=number), want), number


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_exponents_are_rounded(dtype: torch.dtype) -> None:
    x = elements(dtype).abs()
    for number in (0.1, 1.3, -0.7, 1.00048828125001, 2.00048828125, 1 / 3):
        want = x.pow(number)
        step = torch.finfo(dtype).eps
        torch.testing.assert_close(x.to("dl").pow(number).cpu(), want, rtol=step, atol=1e-7)
    two = torch.tensor([3.0], dtype=dtype)
    assert two.to("dl").pow(2.0001).item() == 9


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.add(x, x, alpha=3.4e38 if x.dtype == torch.float16 else 3.4e39),
        lambda x: x.pow(1e39),
        lambda x: functional.hardshrink(x, 1e39),
    ],
    ids=["alpha", "exponent", "bound"],
)
def test_numbers_that_the_dtype_does_not_hold_are_refused(
    call: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype
) -> None:
    for device in ("cpu", "dl"):
        with pytest.raises(RuntimeError, match="without overflow"):
            call(torch.ones(3, dtype=dtype, device=device))


@pytest.mark.parametrize("dtype", [*HALVES, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("bound", [0, 2, 0.5, 1.3])
def test_the_bound_of_hardshrink_is_a_number_of_the_dtype(dtype: torch.dtype, bound: float) -> None:
    x = torch.cat([elements(dtype), torch.tensor([bound, -bound], dtype=dtype)])
    assert same(functional.hardshrink(x.to("dl"), bound), functional.hardshrink(x, bound))

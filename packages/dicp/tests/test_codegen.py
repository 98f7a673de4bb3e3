"""Operators in kernels of the engine codegen give what the executor gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from codegen_kit import OPTIONS, Function, require_operators, run
from dl_dicp import statistics
from dl_dicp.engines.codegen import racing

aten = torch.ops.aten
pytestmark = pytest.mark.usefixtures("always")


def special(*shape: int) -> Tensor:
    """Numbers of all sizes, infinities, NaN and both zeros."""
    x = torch.randn(shape) * torch.logspace(-2, 2, shape[-1])
    flat = x.view(-1)
    flat[:7] = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, 88.8])
    return x.to("dl")


UNARY: tuple[Function, ...] = (
    torch.relu,
    torch.tanh,
    torch.sigmoid,
    F.silu,
    torch.exp,
    torch.expm1,
    torch.erf,
    torch.neg,
    torch.abs,
    F.hardswish,
    F.hardsigmoid,
    F.gelu,
    lambda x: F.gelu(x, approximate="tanh"),
    lambda x: F.leaky_relu(x, 0.3),
    lambda x: F.hardtanh(x, -0.5, 2.0),
    lambda x: x.clamp(-1.0, 3.0),
    lambda x: x.clamp(min=0.5),
    lambda x: x.clamp(max=0.5),
    lambda x: x + 3,
    lambda x: x - 0.7,
    lambda x: x * -2.5,
    lambda x: x / 3.0,
    lambda x: x**2,
    lambda x: x**3,
    lambda x: x.isnan(),
    lambda x: x > 0.25,
    lambda x: x == 0,
    lambda x: x.logical_not(),
)
POSITIVE: tuple[Function, ...] = (
    torch.log,
    torch.log1p,
    torch.log2,
    torch.log10,
    torch.sqrt,
    torch.rsqrt,
    torch.reciprocal,
    lambda x: x**0.5,
    lambda x: x**-0.5,
    lambda x: x**1.7,
)
BINARY: tuple[Function, ...] = (
    lambda x, y: torch.add(x, y, alpha=0.5),
    lambda x, y: torch.sub(x, y, alpha=2.0),
    torch.mul,
    torch.div,
    torch.maximum,
    torch.minimum,
    torch.ge,
    torch.ne,
    lambda x, y: torch.where(x < y, x, y),
    lambda x, y: x.masked_fill(y > 1, -7.0),
    lambda x, y: (x > 0) & (y > 0),
    lambda x, y: (x > 0) | (y < 0),
    lambda x, y: torch.lerp(x, y, 0.3),
    lambda x, y: torch.addcmul(x, y, y, value=0.1),
    lambda x, y: torch.addcdiv(x, y, x, value=0.1),
    lambda x, y: aten.gelu_backward(x, y),
    lambda x, y: aten.gelu_backward(x, y, approximate="tanh"),
    lambda x, y: aten.tanh_backward(x, y),
    lambda x, y: aten.sigmoid_backward(x, y),
    lambda x, y: aten.silu_backward(x, y),
    lambda x, y: aten.threshold_backward(x, y, 0.5),
)


def all_of(functions: tuple[Function, ...]) -> Function:
    """Return a function that calls all functions and returns their results as a tuple."""
    return lambda *given: tuple(function(*given) for function in functions)


def test_functions_of_elements() -> None:
    """Expressions of one and of two tensors, numbers of all kinds among their elements."""
    require_operators("erf", "gelu", "pow.Tensor_Scalar", "log", "where.self", "lerp.Scalar")
    text = run(all_of(UNARY), special(5, 67))
    text += run(all_of(POSITIVE), special(5, 67).abs())
    text += run(all_of(BINARY), special(5, 67), torch.randn(5, 67).to("dl"))
    for name in ("Gelu", "Tanh", "ClampScalar", "Pow", "Where", "LerpScalar", "SiluBackward"):
        assert f"diopi{name}" in text


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves_are_computed_in_float(dtype: torch.dtype) -> None:
    def function(x: Tensor, y: Tensor, w: Tensor) -> Any:
        z = F.silu(x) * y
        return z, torch.softmax(z, -1), F.layer_norm(z + x, w.shape, w), (x > y).to(dtype) * x

    x, y = (torch.randn(6, 130).to(dtype).to("dl") for _ in range(2))
    run(function, x, y, torch.rand(130).to(dtype).to("dl"), eps=3.0)


ALONG: dict[str, Function] = {
    "softmax": lambda x, y: torch.softmax(x * 2 + y, -1) * y,
    "log softmax": lambda x, y: torch.log_softmax(x, -1) + y,
    "sum": lambda x, y: x * (x * y).sum(-1, keepdim=True) + 1,
    "mean": lambda x, y: (x - x.mean(-1, keepdim=True)) * y,
    "largest": lambda x, y: x - (x * y).amax(-1, keepdim=True),
    "rows without their dimension": lambda x, y: (-((x + y).sum(-1)) * 2, x * y),
    "norm": lambda x, y: F.layer_norm(x + y, x.shape[-1:]) + y,
    "RMS norm": lambda x, y: F.rms_norm(x + y, x.shape[-1:]) * y,
    "softmax backward": lambda x, y: aten._softmax_backward_data(x + 1, y, -1, x.dtype) * x,
    "log softmax backward": lambda x, y: aten._log_softmax_backward_data(x + 1, y, -1, x.dtype) * x,
    "rows that are joined": lambda x, y: torch.cat([-x, y + 1, x * y], -1) * 2,
    "rotation by concatenation": lambda x, y: (
        torch.cat([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], -1) * y + x
    ),
    "two rows of sums": lambda x, y: (x - x.mean(-1, keepdim=True)) / (x * x).sum(-1, keepdim=True),
}


@pytest.mark.parametrize("shape", [(4, 6, 64), (3, 1, 1031), (2, 5000)], ids=str)
def test_operators_along_rows(shape: tuple[int, ...]) -> None:
    x, y = (torch.randn(shape).to("dl") for _ in range(2))

    def function(x: Tensor, y: Tensor) -> Any:
        made = [each(x, y) for each in ALONG.values()]
        return tuple(x for each in made for x in (each if isinstance(each, tuple) else (each,)))

    run(function, x, y, eps=16.0)


def test_means_of_norms_that_cancel_out_may_differ() -> None:
    """The rounding errors of a mean that cancels out depend on the order of its sum."""
    require_operators("native_layer_norm")
    x, y = torch.randn(64, 96), torch.randn(64, 96)
    x -= (x + y).mean(-1, keepdim=True)
    given = x.to("dl"), y.to("dl")
    function = lambda x, y: aten.native_layer_norm(x + y, [96], None, None, 1e-5)  # noqa: E731
    compiled = torch.compile(function, backend="dl", options=OPTIONS)
    for _ in range(3):
        compiled(*given)
    racing.wait_for_kernels()
    made, wanted = compiled(*given), function(*given)
    assert float(wanted[1].cpu().abs().max()) < 1e-6
    for a, b in zip(made, wanted, strict=True):
        torch.testing.assert_close(a.cpu(), b.cpu(), rtol=1e-5, atol=1e-5)
    compiled(*given)
    assert statistics.engine_runs["codegen"] and not statistics.dropped


def test_rows_with_infinities_and_nan() -> None:
    x = torch.full((4, 40), -float("inf"))
    x[1, 3] = 2.0
    x[2] = torch.randn(40)
    x[2, 7] = float("nan")
    x[3, 5] = float("inf")
    run(
        lambda x: (
            torch.softmax(x * 2, -1) + 1,
            (x * 2).amax(-1, keepdim=True),
            x.sum(-1),
            torch.log_softmax(x + 1, -1),
        ),
        x.to("dl"),
    )


LAYOUTS: dict[str, tuple[Function, Callable[[], tuple[Tensor, ...]]]] = {
    "a row for all": (
        lambda x, y: torch.relu(x + y) * y,
        lambda: (torch.randn(7, 33), torch.randn(33)),
    ),
    "a column for all": (
        lambda x, y: torch.relu(x + y) * y,
        lambda: (torch.randn(7, 33), torch.randn(7, 1)),
    ),
    "a number of the device": (
        lambda x, y: torch.relu(x + y) * y,
        lambda: (torch.randn(7, 33), torch.randn(())),
    ),
    "channels that lie last": (
        lambda x, y: torch.relu(x + y) * y,
        lambda: (
            torch.randn(2, 8, 5, 6).to(memory_format=torch.channels_last),
            torch.randn(1, 8, 1, 1).to(memory_format=torch.channels_last),
        ),
    ),
    "a part of each row": (
        lambda x, y: torch.relu(x[:, 3:20] + y) * 2,
        lambda: (torch.randn(7, 33), torch.randn(7, 17)),
    ),
    "every second row": (
        lambda x, y: torch.relu(x[::2] + y) * 2,
        lambda: (torch.randn(8, 33), torch.randn(4, 33)),
    ),
    "one dimension": (lambda x, y: torch.relu(x + y) * y, lambda: (torch.randn(9000),) * 2),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str) -> None:
    function, given = LAYOUTS[name]
    run(function, *(x.to("dl") for x in given()))


def test_columns_stay_with_the_executor() -> None:
    x, y = torch.randn(40, 30).to("dl"), torch.randn(30, 40).to("dl")
    run(lambda x, y: torch.relu(x.t() + y) * y, x, y, kernels=False)

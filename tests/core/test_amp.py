"""Mixed precision: autocast on dl selects the same dtypes as on CUDA, and GradScaler works."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from .lacking import lacking

LOWER = {
    "matmul": lambda x: x @ x,
    "linear": lambda x: functional.linear(x, x),
    "conv": lambda x: functional.conv2d(x[None, None], x[None, None]),
    "bmm": lambda x: torch.bmm(x[None], x[None]),
    "attention": lambda x: functional.scaled_dot_product_attention(x[None], x[None], x[None]),
}
WIDER = {
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "exp": torch.exp,
    "sum": torch.sum,
    "norm": torch.linalg.vector_norm,
    "layer_norm": lambda x: functional.layer_norm(x, (4,)),
    "cross_entropy": lambda x: functional.cross_entropy(x, torch.arange(4, device="dl")),
    "pow": lambda x: x**2,
}
SAME = {"relu": torch.relu, "add": lambda x: x + x, "transpose": torch.t, "neg": torch.neg}


def square(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.linspace(-1, 1, 16, dtype=dtype).reshape(4, 4).to("dl")


@pytest.mark.parametrize("name", LOWER)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_products_run_in_the_lower_precision(name: str, dtype: torch.dtype) -> None:
    with torch.autocast("dl", dtype=dtype):
        result = LOWER[name](square())
    assert result.dtype == dtype
    expected = LOWER[name](square().to(dtype))
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("name", WIDER)
def test_sums_run_in_float32(name: str) -> None:
    with torch.autocast("dl", dtype=torch.bfloat16):
        assert WIDER[name](square(torch.bfloat16)).dtype == torch.float32


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_others_run_in_the_precision_they_are_given(name: str, dtype: torch.dtype) -> None:
    with torch.autocast("dl", dtype=torch.bfloat16):
        assert SAME[name](square(dtype)).dtype == dtype


def test_two_precisions_meet_in_the_wider_one() -> None:
    with torch.autocast("dl", dtype=torch.bfloat16):
        result = torch.cat([square(), square(torch.bfloat16)])
    assert result.dtype == torch.float32


def test_the_default_is_bfloat16() -> None:
    assert torch.get_autocast_dtype("dl") == torch.bfloat16
    with torch.autocast("dl"):
        assert (square() @ square()).dtype == torch.bfloat16
        with torch.autocast("dl", enabled=False):
            assert (square() @ square()).dtype == torch.float32
    assert not torch.is_autocast_enabled("dl")


def test_autocast_of_the_cpu_leaves_dl_alone() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (square() @ square()).dtype == torch.float32
        assert lacking(square()).dtype == torch.float32


def test_autocast_of_dl_leaves_the_cpu_alone() -> None:
    with torch.autocast("dl", dtype=torch.bfloat16):
        assert (square().cpu() @ square().cpu()).dtype == torch.float32


def test_the_backward_pass_follows() -> None:
    weight = square().requires_grad_()
    with torch.autocast("dl", dtype=torch.bfloat16):
        loss = (square() @ weight).float().sum()
    loss.backward()
    assert weight.grad is not None and weight.grad.dtype == torch.float32
    expected = square().sum(0, keepdim=True).t().expand(4, 4)
    torch.testing.assert_close(weight.grad, expected, atol=2e-2, rtol=2e-2)


def scaled_step(factor: float) -> tuple[torch.Tensor, float]:
    """Take one SGD step on a gradient of ``factor``; return the weight and the scale afterwards."""
    scaler = torch.amp.GradScaler("dl", init_scale=4.0, growth_interval=1)
    weight = torch.ones(2, device="dl", requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler.scale((weight * factor).sum()).backward()
    scaler.unscale_(optimizer)
    assert weight.grad is not None
    scaler.step(optimizer)
    scaler.update()
    return weight.detach().cpu(), scaler.get_scale()


def test_the_scaler_unscales_and_grows() -> None:
    weight, scale = scaled_step(0.25)
    assert weight.tolist() == [0.75, 0.75]
    assert scale == 8.0


@pytest.mark.parametrize("factor", [float("inf"), float("nan")])
def test_the_scaler_skips_a_step_that_overflowed(factor: float) -> None:
    weight, scale = scaled_step(factor)
    assert weight.tolist() == [1, 1]
    assert scale == 2.0

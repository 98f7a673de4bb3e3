"""Infinite, NaN and empty arguments give torch's CPU results where its kernels define them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

INF, NAN = math.inf, math.nan

Call = Callable[[str], torch.Tensor]


def row(device: str) -> torch.Tensor:
    return torch.tensor([[1.0, -INF, INF, NAN, 0.0]], device=device)


def table(device: str) -> torch.Tensor:
    return torch.tensor([[-15.9, 7.2], [6.0, 10.2], [0.0, 0.5]], device=device)


def embedded(device: str, order: float) -> torch.Tensor:
    indices = torch.tensor([0, 1, 2, 1], device=device)
    return functional.embedding(indices, table(device), max_norm=1.0, norm_type=order)


VALUES: dict[str, Call] = {
    "std of one element": lambda d: row(d).std(0, unbiased=False),
    "std of one half-precision element": lambda d: row(d).half().std(0, unbiased=False),
    "var of one element": lambda d: row(d).var(0, unbiased=False),
    "std of equal elements": lambda d: torch.full((3, 4), INF, device=d).std(1),
    "std of float64 whose squares overflow": lambda d: (
        1e200 * torch.linspace(0.5, 1, 10, dtype=torch.float64, device=d).reshape(2, 5)
    ).std(1),
    "cdist of order 0": lambda d: torch.cdist(row(d).mT, torch.tensor([[NAN], [INF]], device=d), 0),
    "pdist of order 0": lambda d: functional.pdist(row(d).mT.contiguous(), 0),
    "logit of a bound that is NaN": lambda d: torch.logit(torch.rand(5).to(d), NAN),
    "dropped float16 times a scale beyond its range": lambda d: (
        torch.ops.aten.native_dropout_backward(
            torch.tensor([-8.5, 0.5, 0.0], dtype=torch.float16, device=d),
            torch.tensor([False, True, True], device=d),
            1e30,
        )
    ),
    "floor of infinities by huge divisors": lambda d: torch.div(
        torch.tensor([INF, -INF] * 20, device=d),
        torch.tensor([3e38, -3e38] * 20, device=d),
        rounding_mode="floor",
    ),
    **{
        f"max_norm of order {order}": lambda d, order=order: embedded(d, order)
        for order in (INF, -INF, 0.0, 1.0, 2.0, -1.5)
    },
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_the_cpus(name: str) -> None:
    torch.manual_seed(0)
    want = VALUES[name]("cpu")
    torch.manual_seed(0)
    torch.testing.assert_close(VALUES[name]("dl").cpu(), want, equal_nan=True)


def factors(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    matrix = torch.arange(1.0, 26.0, device=device).reshape(5, 5)
    return torch.geqrf(matrix + 30 * torch.eye(5, device=device))


def outputs(device: str, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return results in ``out=`` tensors that have to be resized."""
    a, tau = factors(device)
    results = [
        torch.ormqr(a, tau, a, out=torch.empty(shape, device=device)),
        torch.linalg.householder_product(a, tau, out=torch.empty(shape, device=device)),
        torch.cholesky_inverse(a.triu(), upper=True, out=torch.empty(shape, device=device)),
    ]
    return [x.stride() for x in results]


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("shape", [(0,), (2, 6)], ids=str)
def test_resized_outputs_of_linear_algebra_have_the_cpus_strides(shape: tuple[int, ...]) -> None:
    assert outputs("dl", shape) == outputs("cpu", shape)


@pytest.mark.parametrize("shape", [(5, 0, 5), (9, 0), (0, 3, 2)], ids=str)
def test_a_rotation_of_nothing_keeps_the_strides(shape: tuple[int, ...]) -> None:
    x = torch.empty(2 * shape[0], *shape[1:], device="dl")[::2]
    assert x.roll(1, 0).stride() == x.cpu().roll(1, 0).stride()


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("shape", [(4, 1), (4, 1, 5), (4, 3, 2, 2)], ids=str)
def test_norms_subtract_the_mean_before_they_scale(shape: tuple[int, ...]) -> None:
    """Torch's CPU folds the mean into the bias, which leaves rounding of mean * scale."""
    x = torch.full(shape, -7.5, device="dl")
    weight = torch.full((shape[1],), 3.3, device="dl")
    bias = torch.full((shape[1],), -1.75, device="dl")
    normalized = functional.batch_norm(x, None, None, weight, bias, training=True)
    assert normalized.cpu().unique().tolist() == [-1.75]
    grouped = functional.group_norm(x, 1, weight, bias)
    assert grouped.cpu().unique().tolist() == [-1.75]


def test_antialiasing_by_a_tiny_scale_reads_inside_the_image() -> None:
    image = torch.ones(1, 1, 4, 6, dtype=torch.float64, device="dl")
    resized = torch.ops.aten._upsample_bilinear2d_aa(image, [3, 3], False, 1.7, 5e-324)
    torch.testing.assert_close(resized[..., 0].cpu(), torch.ones(1, 1, 3, dtype=torch.float64))


def test_angles_of_complex_columns_have_the_strides_of_a_new_tensor() -> None:
    for strides in ((1, 1), (1, 20)):
        column = torch.ones(20, dtype=torch.complex64).as_strided((20, 1), strides)
        assert column.to("dl").angle().stride() == column.angle().stride()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_equal_elements_without_an_epsilon_are_the_bias(dtype: torch.dtype) -> None:
    """Torch's batch norm scales them by 0, since 1 / sqrt(0) is infinite."""
    inputs = torch.full((4, 3, 5), 1.5, dtype=dtype)
    bias = torch.tensor([1.0, -2.0, 0.5], dtype=dtype)

    def normalized(device: str) -> list[torch.Tensor]:
        x = inputs.to(device).requires_grad_()
        # torch.nn.functional refuses an epsilon of 0 in training.
        y = torch.batch_norm(x, None, bias.to(device), None, None, True, 0.1, 0.0, False)
        z = torch.instance_norm(x, None, bias.to(device), None, None, True, 0.1, 0.0, False)
        (grad,) = torch.autograd.grad(y.sum(), x)
        return [y.detach().cpu(), z.detach().cpu(), grad.cpu()]

    torch.testing.assert_close(normalized("dl"), normalized("cpu"), equal_nan=True)


def test_renorm_by_a_limit_beyond_the_dtype_changes_nothing() -> None:
    x = torch.full((2, 3), 1e30)
    assert torch.equal(x.to("dl").renorm(2, 0, 1e300).cpu(), x)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("correction", [-1, 0, 1])
def test_no_elements_have_no_deviation(correction: int) -> None:
    """Even where the divisor, 0 - correction, is positive."""
    x = torch.empty(0, 5)
    for dim in (None, 0, 1):
        for function in (torch.std, torch.var):
            want = function(x, dim, correction=correction)
            got = function(x.to("dl"), dim, correction=correction)
            assert torch.equal(got.cpu().isnan(), want.isnan())


@pytest.mark.parametrize("value", [-3.4e38, 1.8e38, 1e30])
@pytest.mark.parametrize(
    "norm", [torch.nn.functional.batch_norm, torch.nn.functional.instance_norm]
)
def test_running_variances_of_huge_equal_elements_are_finite(norm: Any, value: float) -> None:
    mean, variance = torch.zeros(3, device="dl"), torch.full((3,), 6.0, device="dl")
    options = {"training": True} if norm is functional.batch_norm else {}
    norm(torch.full((2, 3, 5), value, device="dl"), mean, variance, momentum=0.5, **options)
    assert torch.equal(variance.cpu(), torch.full((3,), 3.0))
    torch.testing.assert_close(mean.cpu(), torch.full((3,), value / 2))


def test_indices_of_a_triangle_need_no_memory_for_rows_without_elements() -> None:
    assert torch.equal(
        torch.triu_indices(2**31 - 1, 20, device="dl").cpu(), torch.triu_indices(20, 20)
    )
    assert torch.equal(
        torch.tril_indices(20, 2**31 - 1, device="dl").cpu(), torch.tril_indices(20, 20)
    )


def test_indices_of_a_triangle_are_those_of_any_offset() -> None:
    for row, col, offset in itertools.product((0, 1, 3), (0, 2, 4), (-(2**40), -2, 0, 3, 2**40)):
        for function in (torch.tril_indices, torch.triu_indices):
            want = function(row, col, offset)
            assert torch.equal(function(row, col, offset, device="dl").cpu(), want)

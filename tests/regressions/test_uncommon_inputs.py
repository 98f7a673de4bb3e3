"""Uncommon inputs: infinite positions, huge ranges, integers where fractions are usual, and
generators and outputs of another device.
"""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch.nn import functional

PLACES = (math.inf, -math.inf, math.nan, 0.3, -1.0, 1.0, 1.7)


def _grid(dims: int, dtype: torch.dtype) -> torch.Tensor:
    """Return every combination of the positions, as a grid of one line."""
    points = torch.tensor(list(itertools.product(PLACES, repeat=dims)), dtype=dtype)
    return points.view(1, -1, *[1] * (dims - 1), dims)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(
    ("dims", "mode"),
    [(2, "bilinear"), (2, "nearest"), (2, "bicubic"), (3, "bilinear"), (3, "nearest")],
)
def test_sample_at_infinite_places_is_the_cpus(
    dims: int, mode: str, padding: str, align_corners: bool, dtype: torch.dtype
) -> None:
    shape = (1, 2, *(4, 3, 5)[:dims])
    image = torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(0))
    grid = _grid(dims, dtype)
    want, got = (
        functional.grid_sample(image.to(d), grid.to(d), mode, padding, align_corners)
        for d in ("cpu", "dl")
    )
    torch.testing.assert_close(got.cpu(), want, equal_nan=True)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_gradient_at_infinite_places_is_finite_in_a_volume(padding: str) -> None:
    """Torch's CPU kernel writes out of bounds here."""
    image = torch.ones(1, 1, 4, 3, 5, device="dl", requires_grad=True)
    grid = _grid(3, torch.float32).to("dl")
    functional.grid_sample(image, grid, padding_mode=padding, align_corners=False).sum().backward()
    assert image.grad is not None and image.grad.isfinite().all()


@pytest.mark.parametrize(
    ("low", "high"), [(-3e38, 3e38), (3.0, 1.0), (0.0, math.inf), (math.nan, 1.0), (0.0, 1e39)]
)
def test_range_that_torch_refuses_is_refused(low: float, high: float) -> None:
    for device in ("cpu", "dl"):
        with pytest.raises(RuntimeError, match=r"uniform_|out of bounds"):
            torch.zeros(3, device=device).uniform_(low, high)


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str
)
def test_histogram_of_integers_counts_them(dtype: torch.dtype) -> None:
    """Like CUDA; torch's CPU does not support it."""
    values = torch.tensor([0, 1, 1, 3, 4, 4, 4, 9], dtype=dtype)
    for low, high in ((0, 0), (0, 4), (1, 3)):
        want = values.double().histc(4, low, high).to(dtype)
        got = values.to("dl").histc(4, low, high)
        assert got.dtype is dtype and torch.equal(got.cpu(), want)


@pytest.mark.parametrize("dtype", [torch.bool, torch.complex64], ids=str)
def test_a_histogram_without_an_implementation_is_an_error(dtype: torch.dtype) -> None:
    with pytest.raises(NotImplementedError, match="neither the vendor nor torch's CPU"):
        torch.ones(4, dtype=dtype, device="dl").histc(4)


def test_permutation_of_nothing_takes_any_generator() -> None:
    """No numbers are drawn; torch also accepts a CPU generator on CUDA."""
    empty = torch.randperm(0, generator=torch.Generator(), device="dl")
    assert empty.shape == (0,) and empty.dtype is torch.int64
    with pytest.raises(RuntimeError, match="'dl' device type for generator but found 'cpu'"):
        torch.randperm(4, generator=torch.Generator(), device="dl")


ROWS = torch.tensor(
    [[math.nan, 1.0], [0.0, 2.0], [math.nan, 1.0], [0.0, 2.0], [1.0, math.nan], [0.0, math.nan]]
)


@pytest.mark.parametrize("dim", [0, 1])
def test_slices_with_nan_are_ordered_as_on_the_cpu(dim: int) -> None:
    want = torch.unique(ROWS, dim=dim, return_inverse=True, return_counts=True)
    got = torch.unique(ROWS.to("dl"), dim=dim, return_inverse=True, return_counts=True)
    for have, wanted in zip(got, want, strict=True):
        torch.testing.assert_close(have.cpu(), wanted, equal_nan=True)


@pytest.mark.parametrize(
    "name", ["sum", "mean", "amax", "prod", "norm", "linalg.vector_norm", "std", "argmax", "nansum"]
)
def test_number_on_the_cpu_takes_no_result(name: str) -> None:
    operator = torch.linalg.vector_norm if "." in name else getattr(torch, name)
    out = torch.full((), 7, dtype=torch.int64 if name == "argmax" else torch.float32)
    x = torch.ones(3, device="dl")
    with pytest.raises(RuntimeError, match=r"same device|out is on cpu|device"):
        operator(x, dim=0, out=out)
    assert out.item() == 7


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_divisors_of_the_least_integer_are_the_cpus(dtype: torch.dtype) -> None:
    least = torch.iinfo(dtype).min
    a = torch.tensor([1, 3, 100, 0, 64, least, least, least], dtype=dtype)
    b = torch.tensor([least, least, least, least, least, 1, 6, 0], dtype=dtype)
    assert torch.equal(torch.gcd(a.to("dl"), b.to("dl")).cpu(), torch.gcd(a, b))


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft", "hfft"])
@pytest.mark.parametrize("wide", [False, True])
def test_transforms_are_converted_to_the_dtype_of_a_result(name: str, wide: bool) -> None:
    function = getattr(torch.fft, name)
    given = torch.arange(4, dtype=torch.float32 if wide else torch.float64)
    made = function(given).dtype
    others = {torch.complex64: torch.complex128, torch.float32: torch.float64}
    want = others.get(made) or next(narrow for narrow, w in others.items() if w is made)
    results = [
        function(given.to(device), out=torch.empty(0, dtype=want, device=device))
        for device in ("cpu", "dl")
    ]
    assert results[1].dtype is want
    torch.testing.assert_close(results[1].cpu(), results[0])


# Torch's second derivatives compile some functions with a deprecated interface.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_zeros_without_memory_have_views() -> None:
    """Forward derivatives of results that do not depend on an input."""
    for view in (
        lambda x: x.mT.contiguous(),
        lambda x: x[:1].expand(4, 2).contiguous(),
        lambda x: x[1:].clone(),
        lambda x: x.unsqueeze(0) @ torch.ones(1, 2, 3, device=x.device),
    ):
        want, got = (view(torch._efficientzerotensor((3, 2), device=d)) for d in ("cpu", "dl"))
        assert torch.equal(got.cpu(), want)
    matrix = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    want, got = (torch.func.hessian(torch.linalg.det)(matrix.to(d)) for d in ("cpu", "dl"))
    torch.testing.assert_close(got.cpu(), want)

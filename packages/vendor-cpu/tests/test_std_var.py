"""Standard deviations."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import DIMS, FLOATS, LAYOUTS, axes, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dims", DIMS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_std(vendor: Vendor, dtype: str, dims: tuple[int, ...] | None, layout: str) -> None:
    a, x = place(vendor, numbers((5, 17, 40), dtype, 101), dtype, layout)
    for correction in (None, 0, 1, 2.5):
        want = np.std(x, axis=axes(dims), ddof=1 if correction is None else correction)
        out = out_like(vendor, want.shape, dtype)
        vendor.op.Std(out, a, dims, correction)
        check(out, want, OpClass.REDUCTION, "Std", reduction_length=32, magnitude=want)


@pytest.mark.parametrize(("shape", "dim"), [((30_000,), 0), ((3000, 40), 0), ((40, 9000), 1)])
def test_std_far_from_zero(vendor: Vendor, shape: tuple[int, ...], dim: int) -> None:
    # The variance of such elements would cancel in a sum of squares: deviations must come first.
    a, x = place(vendor, numbers(shape, "float32", 102) + 10_000, "float32")
    want = np.std(x, axis=dim, ddof=1)
    out = out_like(vendor, want.shape, "float32")
    vendor.op.Std(out, a, (dim,), 1)
    check(out, want, OpClass.REDUCTION, "Std", reduction_length=32, magnitude=want)


def test_std_of_too_few_elements(vendor: Vendor) -> None:
    out = out_like(vendor, (), "float32")
    vendor.op.Std(out, vendor.tensor(np.array([3.0], np.float32)), None, 1)
    assert np.isnan(out.numpy())
    vendor.op.Std(out, vendor.tensor(np.array([3.0, 4.0], np.float32)), None, 2)
    assert np.isposinf(out.numpy())
    vendor.op.Std(out, out_like(vendor, (0,), "float32"), None, 1)
    assert np.isnan(out.numpy())


@pytest.mark.cpu_path
@pytest.mark.parametrize(
    ("shape", "dim"), [((12,), 0), ((2, 9000), 1), ((3000, 40), 0), ((50, 9), 1)]
)
@pytest.mark.parametrize("step", [0.0, 3e19, 1e38])
def test_std_of_what_overflows_in_sums_alone(
    vendor: Vendor, shape: tuple[int, ...], dim: int, step: float
) -> None:
    """Sums of such elements, and squares of their deviations, overflow their dtype."""
    x = np.full(shape, 1e38, np.float32)
    x[tuple(slice(None, None, 2) if at == dim else slice(None) for at in range(x.ndim))] -= step
    want = np.std(x.astype(np.float64), axis=dim, ddof=1)
    out = out_like(vendor, want.shape, "float32")
    vendor.op.Std(out, vendor.tensor(x), (dim,), 1)
    check(out, want, OpClass.REDUCTION, "Std", reduction_length=32, magnitude=want)


def test_std_passes_nan(vendor: Vendor) -> None:
    source = np.ones((2, 300), np.float32)
    source[1, 299] = np.nan
    out = out_like(vendor, (2,), "float32")
    vendor.op.Std(out, vendor.tensor(source), (1,), 1)
    assert out.numpy()[0] == 0.0 and np.isnan(out.numpy()[1])


def test_std_of_integers_is_left_to_the_host(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match="DtypeNotSupported"):
        vendor.op.Std(out_like(vendor, (), "float32"), out_like(vendor, (3,), "int64"), None, 1)

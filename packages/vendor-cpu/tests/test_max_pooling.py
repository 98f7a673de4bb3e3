"""Tests of two-dimensional max pooling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from pooling_windows import PLANE, PLANE_WINDOWS, largest, scattered, sliding
from support import FLOATS, check, numbers, out_like, place


@pytest.mark.parametrize("layout", ["dense", "transposed"])
@pytest.mark.parametrize("window", PLANE_WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_max_pool_and_its_gradient(
    vendor: Vendor, dtype: str, window: tuple[Any, ...], layout: str
) -> None:
    shape = (2, 3, *PLANE)
    a, x = place(vendor, np.round(numbers(shape, dtype, 131, -8, 8)), dtype, layout)
    want, where = largest(x, sliding(window, PLANE))
    out = out_like(vendor, want.shape, dtype, layout)
    indices = out_like(vendor, want.shape, "int64", layout)
    vendor.op.MaxPool2dWithIndices(out, indices, a, *window)
    check(out, want, OpClass.EXACT, "MaxPool2dWithIndices")
    assert np.array_equal(indices.numpy(), where)
    alone = out_like(vendor, want.shape, dtype)
    vendor.op.MaxPool2d(alone, a, *window)
    assert np.array_equal(alone.numpy(), out.numpy())

    g, grad = place(vendor, numbers(want.shape, dtype, 132), dtype, layout)
    gradient, size, met = scattered(grad, where, PLANE)
    gi = out_like(vendor, shape, dtype, layout)
    vendor.op.MaxPool2dBackward(gi, g, a, *window, indices)
    bound = {"reduction_length": met, "magnitude": size}
    check(gi, gradient, OpClass.REDUCTION, "MaxPool2dBackward", **bound)


def test_max_pool_keeps_nan(vendor: Vendor) -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 4, 4)
    x[0, 0, 0] = np.nan
    out = out_like(vendor, (1, 2, 2), "float32")
    vendor.op.MaxPool2d(out, vendor.tensor(x), (2, 2), (2, 2), (0, 0), (1, 1), False)
    assert np.isnan(out.numpy()[0, 0, 0])
    assert out.numpy()[0, 1, 1] == 15


def test_max_pool_gradient_refuses_bad_indices(vendor: Vendor) -> None:
    x, g = out_like(vendor, (1, 1, 4, 4), "float32"), out_like(vendor, (1, 1, 2, 2), "float32")
    bad = vendor.tensor(np.full((1, 1, 2, 2), 16))
    with pytest.raises(OperatorError, match="index 16"):
        vendor.op.MaxPool2dBackward(x, g, x, (2, 2), (2, 2), (0, 0), (1, 1), False, bad)

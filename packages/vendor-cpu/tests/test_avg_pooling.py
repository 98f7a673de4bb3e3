"""Tests of two-dimensional average pooling."""

from __future__ import annotations

from typing import Any

import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from pooling_windows import PLANE, PLANE_WINDOWS, counts, means, sliding, spread
from support import FLOATS, check, numbers, out_like, place


@pytest.mark.parametrize("divisor", [None, 5])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("window", PLANE_WINDOWS[:3], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_avg_pool_and_its_gradient(
    vendor: Vendor, dtype: str, window: tuple[Any, ...], include: bool, divisor: int | None
) -> None:
    lines, (kernel, stride, padding, _, ceil) = sliding(window, PLANE), window
    arguments = (kernel, stride, padding, ceil, include, divisor)
    divisors = counts(lines, include, divisor)
    shape = (2, 3, *PLANE)
    a, x = place(vendor, numbers(shape, dtype, 133), dtype, "transposed")
    want, size, length = means(x, lines, divisors)
    out = out_like(vendor, want.shape, dtype)
    vendor.op.AvgPool2d(out, a, *arguments)
    bound = {"reduction_length": length, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "AvgPool2d", **bound)

    g, grad = place(vendor, numbers(want.shape, dtype, 134), dtype)
    want, size, length = spread(grad, lines, divisors)
    gi = out_like(vendor, shape, dtype)
    vendor.op.AvgPool2dBackward(gi, g, a, *arguments)
    bound = {"reduction_length": length, "magnitude": size}
    check(gi, want, OpClass.REDUCTION, "AvgPool2dBackward", **bound)

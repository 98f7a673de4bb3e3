"""Resizing: by the nearest cell, and by linear interpolation, which is linear along each axis."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, Array, check, numbers, out_like, place

# sizes of the input and of the output
SIZES = [((7,), (11,)), ((5, 8), (9, 3)), ((3, 4, 5), (6, 4, 2))]
MODES = {1: "linear", 2: "bilinear", 3: "trilinear"}


def nearest_axis(extent: int, count: int) -> Array:
    weights = np.zeros((count, extent), np.longdouble)
    weights[np.arange(count), np.arange(count) * extent // count] = 1
    return weights


def linear_axis(extent: int, count: int, align_corners: bool) -> Array:
    weights = np.zeros((count, extent), np.longdouble)
    for i in range(count):
        if align_corners:
            at = i * np.longdouble(extent - 1) / max(count - 1, 1)
        else:
            at = max((i + np.longdouble(0.5)) * extent / count - np.longdouble(0.5), 0)
        low = min(int(at), extent - 1)
        weights[i, low] += 1 - (at - low)
        weights[i, min(low + 1, extent - 1)] += at - low
    return weights


def check_both(
    vendor: Vendor,
    names: tuple[str, str],
    dtype: str,
    sizes: tuple[tuple[int, ...], tuple[int, ...]],
    axes: list[Array],
    extra: tuple[object, ...],
) -> None:
    before, after = sizes
    weights = reduce(np.kron, axes)
    a, x = place(vendor, numbers((2, 3, *before), dtype, 151), dtype)
    out = out_like(vendor, (2, 3, *after), dtype)
    vendor.op[f"diopi{names[0]}"](out, a, after, *extra)
    flat = x.reshape(6, -1)
    check(
        out,
        (flat @ weights.T).reshape(2, 3, *after),
        OpClass.REDUCTION,
        names[0],
        reduction_length=16,
        magnitude=(np.abs(flat) @ weights.T).reshape(2, 3, *after),
    )
    g, grad = place(vendor, numbers((2, 3, *after), dtype, 152), dtype)
    gi = out_like(vendor, x.shape, dtype)
    vendor.op[f"diopi{names[1]}"](gi, g, after, x.shape, *extra)
    flat = grad.reshape(6, -1)
    check(
        gi,
        (flat @ weights).reshape(x.shape),
        OpClass.REDUCTION,
        names[1],
        reduction_length=4 * int(np.prod(after)),
        magnitude=(np.abs(flat) @ weights).reshape(x.shape),
    )


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_nearest_cell(
    vendor: Vendor, dtype: str, sizes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    axes = [nearest_axis(*pair) for pair in zip(*sizes, strict=True)]
    check_both(vendor, ("UpsampleNearest", "UpsampleNearestBackward"), dtype, sizes, axes, ())


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_linear_interpolation(
    vendor: Vendor,
    dtype: str,
    sizes: tuple[tuple[int, ...], tuple[int, ...]],
    align_corners: bool,
) -> None:
    axes = [linear_axis(*pair, align_corners) for pair in zip(*sizes, strict=True)]
    names = ("UpsampleLinear", "UpsampleLinearBackward")
    check_both(vendor, names, dtype, sizes, axes, (align_corners, MODES[len(axes)]))

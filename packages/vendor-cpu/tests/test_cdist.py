"""Distances between the rows of two matrices, and their gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import LAYOUTS, check, numbers, out_like, place


def distances(x: Any, y: Any, p: float) -> Any:
    apart = np.abs(x[..., :, None, :] - y[..., None, :, :])
    if p == 0:
        return np.sum(apart != 0, -1)
    return np.max(apart, -1) if p == np.inf else np.sum(apart**p, -1) ** (1 / p)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, np.inf])
@pytest.mark.parametrize(
    ("left", "right"), [((4, 7), (5, 7)), ((2, 3, 40), (2, 6, 40)), ((2, 1, 3, 5), (3, 4, 5))]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cdist(
    vendor: Vendor, dtype: str, left: tuple[int, ...], right: tuple[int, ...], p: float, layout: str
) -> None:
    a, x = place(vendor, numbers(left, dtype, 105), dtype, layout)
    b, y = place(vendor, numbers(right, dtype, 106), dtype, layout)
    want = distances(x, y, p)
    out = out_like(vendor, want.shape, dtype, layout)
    vendor.op.Cdist(out, a, b, p, None)
    check(out, want, OpClass.REDUCTION, "Cdist", reduction_length=64, magnitude=want + 1)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, np.inf])
def test_cdist_backward_is_the_slope(vendor: Vendor, p: float) -> None:
    a, x = place(vendor, numbers((2, 4, 7), "float64", 107), "float64")
    b, y = place(vendor, numbers((2, 5, 7), "float64", 108), "float64")
    g, dy = place(vendor, numbers((2, 4, 5), "float64", 109), "float64")
    far = distances(x, y, p)
    out = out_like(vendor, (2, 4, 7), "float64")
    vendor.op.CdistBackward(out, g, a, b, p, vendor.tensor(far.astype(np.float64)))
    step = 1e-6
    for i in range(7):
        moved = np.zeros(7)
        moved[i] = step
        slope = (distances(x + moved, y, p) - distances(x - moved, y, p)) / (2 * step)
        want = np.sum(dy * slope, -1).astype(np.float64)
        np.testing.assert_allclose(out.numpy()[..., i], want, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("left", "right"), [((4, 7), (3, 5, 7)), ((3, 1, 4, 7), (2, 5, 7)), ((1, 4, 7), (3, 5, 7))]
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_cdist_backward_adds_up_what_was_broadcast(
    vendor: Vendor, layout: str, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    a, x = place(vendor, numbers(left, "float64", 111), "float64", layout)
    b, y = place(vendor, numbers(right, "float64", 112), "float64", layout)
    far = distances(x, y, 2.0)
    g, dy = place(vendor, numbers(far.shape, "float64", 113), "float64", layout)
    out = out_like(vendor, left, "float64", layout)
    vendor.op.CdistBackward(out, g, a, b, 2.0, vendor.tensor(far.astype(np.float64)))
    apart = (x[..., :, None, :] - y[..., None, :, :]) / far[..., None]
    want = np.sum(dy[..., None] * apart, -2)
    batches = want.ndim - len(left)
    want = want.sum(tuple(range(batches)))
    ones = tuple(d for d, size in enumerate(left) if size == 1 and want.shape[d] != 1)
    np.testing.assert_allclose(out.numpy(), want.sum(ones, keepdims=True).astype(float), 1e-12)


def test_cdist_backward_of_no_points_is_zero(vendor: Vendor) -> None:
    none = out_like(vendor, (2, 4, 0), "float32")
    a, b = out_like(vendor, (2, 4, 7), "float32"), out_like(vendor, (2, 0, 7), "float32")
    out = out_like(vendor, (2, 4, 7), "float32")
    vendor.op.CdistBackward(out, none, a, b, 2.0, none)
    assert not out.numpy().any()


def test_cdist_names_what_does_not_fit(vendor: Vendor) -> None:
    a, b = out_like(vendor, (3, 4), "float32"), out_like(vendor, (2, 5), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiCdist\].*4 and 5 coordinates"):
        vendor.op.Cdist(out_like(vendor, (3, 2), "float32"), a, b, 2.0, None)

"""Gradients of losses: of all elements together, at their corners and with weights."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, Array, Exact, check, numbers, out_like, place

SHAPE = (5, 33)
SHARES = {"sum": Exact(1), "mean": Exact(1) / (5 * 33)}
ROUNDED = {"reduction_length": 6}


def slope_of_smooth(x: Array, t: Array, beta: float) -> Array:
    d = x - t
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(d) < beta, d / Exact(beta), np.sign(d))


@pytest.mark.parametrize("reduction", SHARES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_squared_errors(vendor: Vendor, dtype: str, layout: str, reduction: str) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 451), dtype, layout)
    b, t = place(vendor, numbers(SHAPE, dtype, 452), dtype)
    g, grad = place(vendor, numbers((), dtype, 453), dtype)
    out = out_like(vendor, SHAPE, dtype, layout)
    vendor.op.MSELossBackward(out, g, a, b, reduction)
    share = SHARES[reduction] * np.abs(grad)
    size = 2 * share * (np.abs(x) + np.abs(t))
    want = 2 * SHARES[reduction] * grad * (x - t)
    check(out, want, OpClass.REDUCTION, "MSELossBackward", magnitude=size, **ROUNDED)


@pytest.mark.parametrize("reduction", SHARES)
@pytest.mark.parametrize("beta", [0.0, 0.5, 2.5])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_smooth_distances(
    vendor: Vendor, dtype: str, layout: str, beta: float, reduction: str
) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 454), dtype, layout)
    b, t = place(vendor, numbers(SHAPE, dtype, 455), dtype)
    g, grad = place(vendor, numbers((), dtype, 456), dtype)
    assert beta or (x != t).all()  # no slope there
    out = out_like(vendor, SHAPE, dtype, layout)
    vendor.op.SmoothL1LossBackward(out, g, a, b, reduction, beta)
    share = SHARES[reduction] * grad
    want = share * slope_of_smooth(x, t, beta)
    size = np.abs(share) * (1 + (np.abs(x) + np.abs(t)) / (beta or 1))
    check(out, want, OpClass.REDUCTION, "SmoothL1LossBackward", magnitude=size, **ROUNDED)


@pytest.mark.parametrize("dtype", FLOATS)
def test_slopes_meet_where_the_distance_is_beta(vendor: Vendor, dtype: str) -> None:
    b = place(vendor, np.zeros(6), dtype)[0]
    a = place(vendor, np.array([-0.5, 0.5, -0.25, 0.25, 0, np.inf]), dtype)[0]
    out = out_like(vendor, (6,), dtype)
    vendor.op.SmoothL1LossBackward(out, place(vendor, np.ones(6), dtype)[0], a, b, "none", 0.5)
    want = np.array([-1, 1, -0.5, 0.5, 0, 1])
    check(out, want, OpClass.EXACT, "SmoothL1LossBackward")


@pytest.mark.parametrize("reduction", SHARES)
@pytest.mark.parametrize("weight_shape", [None, (33,), SHAPE], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_cross_entropy_with_weights(
    vendor: Vendor, dtype: str, weight_shape: tuple[int, ...] | None, reduction: str
) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 457, 0.05, 0.95), dtype, "transposed")
    b, t = place(vendor, numbers(SHAPE, dtype, 458, 0, 1), dtype)
    g, grad = place(vendor, numbers((), dtype, 459), dtype)
    w, weight = None, np.ones((), Exact)
    if weight_shape is not None:
        w, weight = place(vendor, numbers(weight_shape, dtype, 460, 0, 2), dtype)
    out = out_like(vendor, SHAPE, dtype)
    vendor.op.BCELossBackward(out, g, a, b, w, reduction)
    scale = SHARES[reduction] * grad * weight / ((1 - x) * x)
    # 1 - x is rounded too, which x near 1 makes the most of.
    size = np.abs(scale) * (np.abs(x - t) + (x + t)) / (1 - x)
    want = scale * (x - t)
    check(out, want, OpClass.REDUCTION, "BCELossBackward", magnitude=size, **ROUNDED)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slope_at_certain_probabilities_is_limited(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, np.array([0, 1, 0, 1]), dtype)
    b, t = place(vendor, np.array([0, 1, 1, 0]), dtype)
    g = place(vendor, np.ones(4), dtype)[0]
    out = out_like(vendor, (4,), dtype)
    vendor.op.BCELossBackward(out, g, a, b, None, "none")
    check(out, (x - t) / Exact(1e-12), OpClass.REDUCTION, "BCELossBackward", **ROUNDED)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_stays(vendor: Vendor, dtype: str) -> None:
    a = place(vendor, np.array([np.nan, 0.5]), dtype)[0]
    b, g = place(vendor, np.array([0, 0.25]), dtype)[0], place(vendor, np.ones(2), dtype)[0]
    want = np.array([np.nan, 1])
    out = out_like(vendor, (2,), dtype)
    vendor.op.MSELossBackward(out, g, a, b, "none")
    check(out, want / 2, OpClass.EXACT, "MSELossBackward")
    vendor.op.SmoothL1LossBackward(out, g, a, b, "none", 0.25)
    check(out, want, OpClass.EXACT, "SmoothL1LossBackward")
    vendor.op.BCELossBackward(out, g, a, b, None, "none")
    check(out, want, OpClass.REDUCTION, "BCELossBackward", **ROUNDED)


def test_no_elements(vendor: Vendor) -> None:
    empty, one = out_like(vendor, (0, 3), "float32"), out_like(vendor, (), "float32")
    vendor.op.MSELossBackward(empty, one, empty, empty, "mean")
    vendor.op.SmoothL1LossBackward(empty, one, empty, empty, "mean", 1.0)
    vendor.op.BCELossBackward(empty, one, empty, empty, None, "mean")
    assert empty.numpy().shape == (0, 3)


def test_what_does_not_fit_is_refused(vendor: Vendor) -> None:
    x, g = out_like(vendor, (2, 3), "float32"), out_like(vendor, (), "float32")
    other = out_like(vendor, (2, 4), "float32")
    with pytest.raises(OperatorError, match="broadcast"):
        vendor.op.MSELossBackward(x, g, x, other, "mean")
    with pytest.raises(OperatorError, match="broadcast"):
        vendor.op.BCELossBackward(x, g, x, x, other, "mean")
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.SmoothL1LossBackward(x, g, x, out_like(vendor, (2, 3), "float64"), "mean", 1.0)

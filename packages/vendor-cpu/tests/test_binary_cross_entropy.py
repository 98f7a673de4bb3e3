"""Tests of binary cross entropy of probabilities and of logits, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from losses import COUNT, MEAN, NONE, ROUNDED, SHAPE, SHARES, SUM, Loss, check_loss
from support import FLOATS, LAYOUTS, Exact, check, numbers, out_like, place


def cross_entropy(x: Any, t: Any) -> Any:
    with np.errstate(divide="ignore"):
        return (t - 1) * np.maximum(np.log1p(-x), -100) - t * np.maximum(np.log(x), -100)


LOSS = Loss(
    cross_entropy,
    lambda x, t: (x - t) / np.maximum((1 - x) * x, 1e-12),
    0.01,
    0.99,
    before=(None,),
)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_loss_and_its_gradient(vendor: Vendor, dtype: str, layout: str) -> None:
    check_loss(vendor, "BCELoss", LOSS, dtype, layout)


@pytest.mark.parametrize("dtype", FLOATS)
def test_cross_entropy_of_logits(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 84, -9, 9), dtype)
    b, t = place(vendor, numbers(SHAPE, dtype, 85, 0, 1), dtype)
    w, weight = place(vendor, numbers(SHAPE, dtype, 86, 0, 1), dtype)
    p, positive = place(vendor, numbers(SHAPE[1:], dtype, 87, 0, 3), dtype)
    g, grad = place(vendor, numbers((), dtype, 88), dtype)
    rest = np.logaddexp(np.longdouble(0), -x)
    each = weight * ((1 - t) * x + (1 + (positive - 1) * t) * rest)
    scale = weight * ((1 - t) * np.abs(x) + (2 + positive) * (rest + np.abs(x)))
    out = out_like(vendor, SHAPE, dtype)
    vendor.op.BCEWithLogits(out, a, b, w, p, NONE)
    check(out, each, OpClass.REDUCTION, "BCEWithLogits", reduction_length=6, magnitude=scale)
    share = 1 / (1 + np.exp(x))
    slope = grad * weight * ((1 - t) - (1 + (positive - 1) * t) * share) / COUNT
    vendor.op.BCEWithLogitsBackward(out, g, a, b, w, p, MEAN)
    size = np.abs(grad) * weight * (3 + positive) / COUNT
    check(
        out, slope, OpClass.REDUCTION, "BCEWithLogitsBackward", reduction_length=8, magnitude=size
    )


def test_weight_of_a_cross_entropy_broadcasts(vendor: Vendor) -> None:
    a, x = place(vendor, numbers(SHAPE, "float32", 89, 0.1, 0.9), "float32")
    b, t = place(vendor, numbers(SHAPE, "float32", 90, 0, 1), "float32")
    w, weight = place(vendor, numbers(SHAPE[1:], "float32", 91, 0, 2), "float32")
    total = out_like(vendor, (), "float32")
    vendor.op.BCELoss(total, a, b, w, SUM)
    each = cross_entropy(x, t) * weight
    check(
        total,
        each.sum(),
        OpClass.REDUCTION,
        "BCELoss",
        reduction_length=COUNT,
        magnitude=np.abs(each).sum(),
    )


def test_logarithms_of_certain_probabilities_are_limited(vendor: Vendor) -> None:
    x = vendor.tensor(np.array([0, 1, 0, 1], np.float32))
    t = vendor.tensor(np.array([1, 0, 0, 1], np.float32))
    out = out_like(vendor, (4,), "float32")
    vendor.op.BCELoss(out, x, t, None, NONE)
    assert out.numpy().tolist() == [100.0, 100.0, 0.0, 0.0]


@pytest.mark.parametrize("wrong", [-0.1, 1.5, np.nan])
def test_cross_entropy_refuses_what_is_no_probability(vendor: Vendor, wrong: float) -> None:
    x = vendor.tensor(np.array([0.5, wrong], np.float32))
    with pytest.raises(OperatorError, match="between 0 and 1"):
        vendor.op.BCELoss(out_like(vendor, (2,), "float32"), x, x, None, NONE)


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
    # 1 - x is rounded too, with the largest relative error for x near 1.
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
    out = out_like(vendor, (2,), dtype)
    vendor.op.BCELossBackward(out, g, a, b, None, "none")
    check(out, np.array([np.nan, 1]), OpClass.REDUCTION, "BCELossBackward", **ROUNDED)


def test_no_elements(vendor: Vendor) -> None:
    empty, one = out_like(vendor, (0, 3), "float32"), out_like(vendor, (), "float32")
    vendor.op.BCELossBackward(empty, one, empty, empty, None, "mean")
    assert empty.numpy().shape == (0, 3)


def test_what_does_not_fit_is_refused(vendor: Vendor) -> None:
    x, g = out_like(vendor, (2, 3), "float32"), out_like(vendor, (), "float32")
    with pytest.raises(OperatorError, match="broadcast"):
        vendor.op.BCELossBackward(x, g, x, x, out_like(vendor, (2, 4), "float32"), "mean")

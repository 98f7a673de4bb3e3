"""Tests of squared errors, smooth L1 losses and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from losses import MEAN, NONE, ROUNDED, SHAPE, SHARES, SUM, Loss, check_loss
from support import FLOATS, LAYOUTS, Array, Exact, check, numbers, out_like, place


def smooth(x: Any, t: Any) -> Any:
    d = np.abs(x - t)
    return np.where(d < 0.75, d * d / 1.5, d - 0.375)


LOSSES = {
    "MSELoss": Loss(lambda x, t: (x - t) ** 2, lambda x, t: 2 * (x - t), -3, 3),
    "SmoothL1Loss": Loss(
        smooth,
        lambda x, t: np.clip((x - t) / Exact(0.75), -1, 1),
        -3,
        3,
        after=(0.75,),
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", LOSSES)
def test_loss_and_its_gradient(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_loss(vendor, name, LOSSES[name], dtype, layout)


def test_losses_of_many_elements_do_not_depend_on_their_number(vendor: Vendor) -> None:
    source = numbers((300_001,), "float32", 92)
    a, x = place(vendor, source, "float32")
    b, t = place(vendor, np.zeros(300_001), "float32")
    out = out_like(vendor, (), "float32")
    vendor.op.MSELoss(out, a, b, MEAN)
    want = np.mean((x - t) ** 2)
    check(out, want, OpClass.REDUCTION, "MSELoss", reduction_length=64, magnitude=want)


def test_mean_over_no_elements_is_nan(vendor: Vendor) -> None:
    empty = vendor.tensor(np.zeros((0, 3), np.float32))
    out = out_like(vendor, (), "float32")
    vendor.op.MSELoss(out, empty, empty, MEAN)
    assert np.isnan(out.numpy())


def test_target_of_another_shape_is_refused(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 3), "float32")
    with pytest.raises(OperatorError, match="shape"):
        vendor.op.MSELoss(x, x, out_like(vendor, (3,), "float32"), NONE)
    with pytest.raises(OperatorError, match='6 elements; reduction "sum" of 6 losses needs 1'):
        vendor.op.MSELoss(x, x, x, SUM)


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
    assert beta or (x != t).all()  # not differentiable there
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


def test_no_elements(vendor: Vendor) -> None:
    empty, one = out_like(vendor, (0, 3), "float32"), out_like(vendor, (), "float32")
    vendor.op.MSELossBackward(empty, one, empty, empty, "mean")
    vendor.op.SmoothL1LossBackward(empty, one, empty, empty, "mean", 1.0)
    assert empty.numpy().shape == (0, 3)


def test_what_does_not_fit_is_refused(vendor: Vendor) -> None:
    x, g = out_like(vendor, (2, 3), "float32"), out_like(vendor, (), "float32")
    with pytest.raises(OperatorError, match="broadcast"):
        vendor.op.MSELossBackward(x, g, x, out_like(vendor, (2, 4), "float32"), "mean")
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.SmoothL1LossBackward(x, g, x, out_like(vendor, (2, 3), "float64"), "mean", 1.0)

"""Losses of every element and their gradients, combined in each way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, check, numbers, out_like, place

NONE, MEAN, SUM = "none", "mean", "sum"
SHAPE = (3, 41)
COUNT = 3 * 41


def squared(x: Any, t: Any) -> Any:
    return (x - t) ** 2


def smooth(x: Any, t: Any) -> Any:
    d = np.abs(x - t)
    return np.where(d < 0.75, d * d / 1.5, d - 0.375)


def cross_entropy(x: Any, t: Any) -> Any:
    with np.errstate(divide="ignore"):
        return (t - 1) * np.maximum(np.log1p(-x), -100) - t * np.maximum(np.log(x), -100)


# name: (losses, slopes, further arguments before and after the reduction, range of the input)
LOSSES: dict[str, tuple[Any, Any, tuple[Any, ...], tuple[Any, ...], float, float]] = {
    "MSELoss": (squared, lambda x, t: 2 * (x - t), (), (), -3, 3),
    "SmoothL1Loss": (
        smooth,
        lambda x, t: np.clip((x - t) / np.longdouble(0.75), -1, 1),
        (),
        (0.75,),
        -3,
        3,
    ),
    "BCELoss": (
        cross_entropy,
        lambda x, t: (x - t) / np.maximum((1 - x) * x, 1e-12),
        (None,),
        (),
        0.01,
        0.99,
    ),
}


GRADIENTS = {
    "MSELoss": "MSELossBackward",
    "SmoothL1Loss": "SmoothL1LossBackward",
    "BCELoss": "BCELossBackward",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", LOSSES)
def test_loss_and_its_gradient(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    losses, slopes, before, after, low, high = LOSSES[name]
    a, x = place(vendor, numbers(SHAPE, dtype, 81, low, high), dtype, layout)
    b, t = place(vendor, numbers(SHAPE, dtype, 82, low, high), dtype)
    g, grad = place(vendor, numbers(SHAPE, dtype, 83), dtype, layout)
    each = losses(x, t)
    terms = {"reduction_length": 4, "magnitude": np.abs(each) + np.abs(x) + np.abs(t)}
    out = out_like(vendor, SHAPE, dtype, layout)
    vendor.op[f"diopi{name}"](out, a, b, *before, NONE, *after)
    check(out, each, OpClass.REDUCTION, name, **terms)
    for reduction, want in ((SUM, each.sum()), (MEAN, each.mean())):
        total = out_like(vendor, (), dtype)
        vendor.op[f"diopi{name}"](total, a, b, *before, reduction, *after)
        size = np.abs(each).sum() if reduction == SUM else np.abs(each).mean()
        check(total, want, OpClass.REDUCTION, name, reduction_length=COUNT, magnitude=size)
    slope = grad * slopes(x, t)
    scale = np.abs(grad) * (1 + np.abs(slopes(x, t)))
    for reduction, share in ((NONE, 1), (SUM, 1), (MEAN, np.longdouble(1) / COUNT)):
        vendor.op[f"diopi{GRADIENTS[name]}"](out, g, a, b, *before, reduction, *after)
        check(
            out,
            slope * share,
            OpClass.REDUCTION,
            GRADIENTS[name],
            reduction_length=6,
            magnitude=scale * share,
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_cross_entropy_of_logits(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers(SHAPE, dtype, 84, -9, 9), dtype)
    b, t = place(vendor, numbers(SHAPE, dtype, 85, 0, 1), dtype)
    w, weight = place(vendor, numbers(SHAPE, dtype, 86, 0, 1), dtype)
    p, positive = place(vendor, numbers((41,), dtype, 87, 0, 3), dtype)
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
    w, weight = place(vendor, numbers((41,), "float32", 91, 0, 2), "float32")
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

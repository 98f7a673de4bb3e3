"""Tests of the negative log-likelihood loss and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, Array, check, exact, numbers, out_like, place, terms


def nll(x: Array, target: Array, weight: Array, ignored: int) -> tuple[Array, Array]:
    """Return the loss and the weight of each target; x is (N, C, …)."""
    known = target != ignored
    safe = np.where(known, target, 0)
    picked = np.take_along_axis(x, np.expand_dims(safe, 1), axis=1).squeeze(1)
    scale = np.where(known, weight[safe], 0)
    return -picked * scale, scale


@pytest.mark.parametrize("shape", [(9, 5), (3, 5, 4), (2, 5, 3, 3)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_nll_loss_and_its_gradient(vendor: Vendor, dtype: str, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(97)
    a, x = place(vendor, numbers(shape, dtype, 98, -4, 0), dtype, "transposed")
    w, weight = place(vendor, numbers((5,), dtype, 99, 0.5, 2), dtype)
    target = random.integers(0, 5, (shape[0], *shape[2:]))
    target.flat[1] = -100
    t = vendor.tensor(target)
    losses, weights = nll(x, target, weight, -100)
    hot = np.moveaxis(np.eye(5)[np.where(target >= 0, target, 0)], -1, 1) * np.expand_dims(
        weights, 1
    )
    count = target.size
    for reduction, want, total in (
        ("none", losses, 0),
        ("sum", losses.sum(), weights.sum()),
        ("mean", losses.sum() / weights.sum(), weights.sum()),
    ):
        out, total_weight = out_like(vendor, np.shape(want), dtype), out_like(vendor, (), dtype)
        vendor.op.NLLLossV2(out, total_weight, a, t, w, reduction, -100)
        size = np.abs(losses) if reduction == "none" else np.abs(want)
        check(out, want, OpClass.REDUCTION, "NLLLossV2", **terms(count, size))
        check(total_weight, total, OpClass.REDUCTION, "total_weight", **terms(count, np.abs(total)))
        vendor.op.NLLLoss(out, a, t, w, reduction, -100)
        check(out, want, OpClass.REDUCTION, "NLLLoss", **terms(count, size))
        g, grad = place(vendor, numbers(np.shape(want), dtype, 100), dtype)
        wide = np.expand_dims(grad, 1) if reduction == "none" else grad
        gi = out_like(vendor, shape, dtype)
        denominator: Any = 1
        if reduction == "mean":
            denominator = exact(total_weight.numpy(), dtype)
        vendor.op.NLLLossV2Backward(gi, g, a, t, w, total_weight, reduction, -100)
        want_gradient = -hot * wide / denominator
        check(
            gi,
            want_gradient,
            OpClass.REDUCTION,
            "NLLLossV2Backward",
            **terms(4, np.abs(want_gradient)),
        )
        vendor.op.NLLLossBackward(gi, g, a, t, w, reduction, -100)
        check(
            gi,
            -hot * wide / (weights.sum() if reduction == "mean" else 1),
            OpClass.REDUCTION,
            "NLLLossBackward",
            **terms(4, np.abs(want_gradient)),
        )


@pytest.mark.parametrize("weighted", [True, False])
def test_nll_loss_of_many_targets(vendor: Vendor, weighted: bool) -> None:
    count = 40000
    a, x = place(vendor, numbers((count, 3), "float32", 101, -4, 0), "float32")
    target = np.random.default_rng(102).integers(0, 4, count)
    t = vendor.tensor(target)
    w, weight = place(vendor, np.array([0.5, 1, 2] if weighted else np.ones(3)), "float32")
    losses, weights = nll(x, target, weight, 3)
    out, total = out_like(vendor, (), "float32"), out_like(vendor, (), "float32")
    vendor.op.NLLLossV2(out, total, a, t, w if weighted else None, "mean", 3)
    want = losses.sum() / weights.sum()
    check(out, want, OpClass.REDUCTION, "NLLLossV2", **terms(count, np.abs(want)))
    check(total, weights.sum(), OpClass.EXACT, "total_weight")
    gi = out_like(vendor, (count, 3), "float32")
    g, grad = place(vendor, np.array(3.0), "float32")
    vendor.op.NLLLossBackward(gi, g, a, t, w if weighted else None, "mean", 3)
    hot = np.eye(3)[np.where(target < 3, target, 0)]
    want_gradient = -hot * weights[:, None] * grad / weights.sum()
    check(gi, want_gradient, OpClass.REDUCTION, "grad_input", **terms(4, np.abs(want_gradient)))


def test_nll_loss_refuses_targets_that_are_no_classes(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 3), "float32")
    with pytest.raises(OperatorError, match="target 3 at position 1 is out of range for 3 classes"):
        vendor.op.NLLLoss(
            out_like(vendor, (), "float32"), x, vendor.tensor(np.array([0, 3])), None, "mean", -100
        )


def test_mean_loss_without_targets_is_nan(vendor: Vendor) -> None:
    out = out_like(vendor, (), "float32")
    x = out_like(vendor, (1, 3), "float32")
    vendor.op.NLLLoss(out, x, vendor.tensor(np.array([-100])), None, "mean", -100)
    assert np.isnan(out.numpy())


def test_nll_loss_names_a_result_of_another_size(vendor: Vendor) -> None:
    x, t = out_like(vendor, (2, 3), "float32"), vendor.tensor(np.array([0, 1]))
    three, two = out_like(vendor, (3,), "float32"), out_like(vendor, (2,), "float32")
    message = r'the output has 3 elements; reduction "none" of 2 losses needs 2'
    with pytest.raises(OperatorError, match=rf"\[diopiNLLLoss\] {message}"):
        vendor.op.NLLLoss(three, x, t, None, "none", -100)
    message = 'grad_output has 2 elements; reduction "mean" of 2 losses needs 1'
    with pytest.raises(OperatorError, match=message):
        vendor.op.NLLLossBackward(
            out_like(vendor, (2, 3), "float32"), two, x, t, None, "mean", -100
        )

"""Focal losses of logits and probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import references_losses  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, numbers, out_like


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("alpha", [0.25, -1.0])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_binary(vendor: Vendor, dtype: str, layout: str, alpha: float, reduction: str) -> None:
    x, t = numbers((5, 7), dtype, 50), numbers((5, 7), dtype, 51, 0, 1).round()
    given = {"alpha": alpha, "gamma": 2.0, "reduction": reduction}
    check_operator(vendor, "diopiSigmoidFocalLoss", dtype, layout, inputs=x, targets=t, **given)
    grad = numbers((5, 7) if reduction == "none" else (), dtype, 52)
    check_operator(
        vendor, "diopiSigmoidFocalLossBackward", dtype, layout, grad_output=grad, input=x, target=t,
        **given,
    )  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_classes(vendor: Vendor, dtype: str, layout: str, weighted: bool) -> None:
    x, weight = numbers((6, 4), dtype, 53), numbers((4,), dtype, 54, 0.5, 2)
    given = {"target": np.array([0, 3, -1, 4, 2, 1]), "weight": weight if weighted else None,
             "gamma": 1.5, "alpha": 0.25}  # fmt: skip
    for name in ("diopiSigmoidFocalLossMmcv", "diopiSigmoidFocalLossBackwardMmcv"):
        check_operator(vendor, name, dtype, layout, input=x, **given)
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    given["target"] = np.array([0, 3, -1, 0, 2, 1])
    check_operator(vendor, "diopiSoftmaxFocalLossMmcv", dtype, layout, softmax=p, **given)
    check_operator(
        vendor, "diopiSoftmaxFocalLossBackwardMmcv", dtype, layout, softmax=p, buff=np.zeros(6),
        **given,
    )  # fmt: skip


def test_without_focus_it_is_half_the_cross_entropy(vendor: Vendor) -> None:
    out = out_like(vendor, (1,), "float64")
    zero = vendor.tensor(np.zeros(1))
    vendor.op.SigmoidFocalLoss(out, zero, zero, 0.5, 0.0, "sum")
    assert np.allclose(out.numpy(), np.log(2) / 2, 1e-15)


def test_a_class_that_is_none_is_told(vendor: Vendor) -> None:
    p, out = out_like(vendor, (2, 3), "float32"), out_like(vendor, (2,), "float32")
    with pytest.raises(OperatorError, match="index 3 at position 1 is out of range"):
        vendor.op.SoftmaxFocalLossMmcv(out, p, vendor.tensor(np.array([0, 3])), None, 2.0, 0.5)

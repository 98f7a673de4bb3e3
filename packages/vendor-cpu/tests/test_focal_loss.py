"""Focal losses of logits and probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "SigmoidFocalLoss",
    "SigmoidFocalLossBackward",
    "SigmoidFocalLossMmcv",
    "SigmoidFocalLossBackwardMmcv",
    "SoftmaxFocalLossMmcv",
    "SoftmaxFocalLossBackwardMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_without_focus_it_is_half_the_cross_entropy(vendor: Vendor) -> None:
    out = out_like(vendor, (1,), "float64")
    zero = vendor.tensor(np.zeros(1))
    vendor.op.SigmoidFocalLoss(out, zero, zero, 0.5, 0.0, "sum")
    assert np.allclose(out.numpy(), np.log(2) / 2, 1e-15)


def test_an_index_that_is_not_a_class_is_reported(vendor: Vendor) -> None:
    p, out = out_like(vendor, (2, 3), "float32"), out_like(vendor, (2,), "float32")
    with pytest.raises(OperatorError, match="index 3 at position 1 is out of range"):
        vendor.op.SoftmaxFocalLossMmcv(out, p, vendor.tensor(np.array([0, 3])), None, 2.0, 0.5)

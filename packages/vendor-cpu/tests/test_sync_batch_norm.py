"""Tests of the steps of batch normalization over several processes."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import numbers, out_like

OPERATORS = (
    "SyncBnMeanMmcv",
    "SyncBnVarMmcv",
    "SyncBnOutputMmcv",
    "SyncBnBackwardParamMmcv",
    "SyncBnBackwardDataMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_what_was_normalized_has_mean_0_and_variance_1(vendor: Vendor) -> None:
    x = vendor.tensor(numbers((3, 4, 50), "float64", 118))
    mean, var, std = (out_like(vendor, (4,), "float32") for _ in range(3))
    out, one = out_like(vendor, (3, 4, 50), "float64"), vendor.tensor(np.ones(4, np.float32))
    vendor.op.SyncBnMeanMmcv(mean, x)
    vendor.op.SyncBnVarMmcv(var, x, mean)
    zero = vendor.tensor(np.zeros(4, np.float32))
    vendor.op.SyncBnOutputMmcv(None, None, None, std, out, x, mean, var, one, zero, 0.0, 0.1, 1)
    assert np.allclose(out.numpy().mean((0, 2)), 0, atol=1e-6)
    assert np.allclose(out.numpy().var((0, 2)), 1, atol=1e-6)


def test_bad_shapes_are_reported(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match=r"a tensor of channels has the shape \[3\]; it needs"):
        vendor.op.SyncBnMeanMmcv(
            out_like(vendor, (3,), "float32"), out_like(vendor, (2, 4, 5), "float32")
        )

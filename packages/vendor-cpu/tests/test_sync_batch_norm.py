"""The steps of batch normalization over several processes."""

from __future__ import annotations

import numpy as np
import pytest

import references_neighbors  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, numbers, out_like


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_steps(vendor: Vendor, dtype: str, layout: str, running: bool) -> None:
    x, grad = numbers((3, 4, 5), dtype, 110), numbers((3, 4, 5), dtype, 111)
    mean, weight, bias = (numbers((4,), dtype, seed) for seed in (112, 113, 114))
    var, std = (numbers((4,), dtype, seed, 0.5, 2) for seed in (115, 116))
    norm = numbers((3, 4, 5), dtype, 117)
    name = "diopiSyncBn"
    check_operator(vendor, f"{name}MeanMmcv", dtype, layout, input=x)
    check_operator(vendor, f"{name}VarMmcv", dtype, layout, input=x, mean=mean)
    check_operator(
        vendor, f"{name}OutputMmcv", dtype, layout, running_mean=bias if running else None,
        running_var=std if running else None, input=x, mean=mean, var=var, weight=weight,
        bias=bias, eps=1e-5, momentum=0.25, group_size=2,
    )  # fmt: skip
    check_operator(vendor, f"{name}BackwardParamMmcv", dtype, layout, grad_output=grad, norm=norm)
    check_operator(
        vendor, f"{name}BackwardDataMmcv", dtype, layout, grad_output=grad, weight=weight,
        grad_weight=mean, grad_bias=bias, norm=norm, std=std,
    )  # fmt: skip


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


def test_bad_shapes_are_told(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match=r"a tensor of channels has the shape \[3\]; it needs"):
        vendor.op.SyncBnMeanMmcv(
            out_like(vendor, (3,), "float32"), out_like(vendor, (2, 4, 5), "float32")
        )

"""Tests of fused feed-forward layers."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from suite import check_cases
from support import FLOATS, Array, exact, numbers, out_like, place, stored


def test_cases_of_the_suite(vendor: Vendor) -> None:
    check_cases(vendor, "diopiFusedSiluFfnInp")


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_layer_is_its_parts_one_after_the_other(vendor: Vendor, dtype: str) -> None:
    """The separate operators round to the dtype each time."""
    x, left = place(vendor, numbers((5, 16), dtype, 380), dtype)
    upper, first = place(vendor, numbers((16, 32), dtype, 381, -0.5, 0.5), dtype)
    by, second = place(vendor, numbers((16, 32), dtype, 382, -0.5, 0.5), dtype)
    lower, last = place(vendor, numbers((32, 16), dtype, 383, -0.5, 0.5), dtype)

    def rounded(array: Array) -> Array:
        return exact(stored(array, dtype), dtype)

    gate, other = rounded(left @ first), rounded(left @ second)
    # The layer does not round silu before the multiplication.
    want = rounded(rounded(gate / (1 + np.exp(-gate)) * other) @ last)
    vendor.op.FusedSiluFfnInp(x, upper, lower, by, None, 0, 0)
    bound = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6}.get(dtype, 1e-15)
    assert np.abs(exact(x.numpy(), dtype) - want).max() <= bound * np.abs(want).max()


def test_asking_for_memory_writes_nothing(vendor: Vendor) -> None:
    x = vendor.tensor(np.ones((2, 3), np.float32))
    weight, lower = out_like(vendor, (3, 4), "float32"), out_like(vendor, (4, 3), "float32")
    assert vendor.op.FusedSiluFfnInp(x, weight, lower, weight, None, -1, 0) == 0
    assert np.array_equal(x.numpy(), np.ones((2, 3), np.float32))


def test_shapes_that_do_not_fit_are_reported(vendor: Vendor) -> None:
    x, weight = out_like(vendor, (2, 3), "float32"), out_like(vendor, (3, 4), "float32")

    def run(lower: Tensor, by: Tensor = weight, level: int = 0) -> None:
        vendor.op.FusedSiluFfnInp(x, weight, lower, by, None, 0, level)

    with pytest.raises(OperatorError, match=r"weight2 has the shape \[3, 4\]; it needs \[4, 3\]"):
        run(weight)
    lower = out_like(vendor, (4, 3), "float32")
    with pytest.raises(OperatorError, match=r"weight3 has the shape \[4, 3\]; it needs \[3, 4\]"):
        run(lower, lower)
    with pytest.raises(OperatorError, match="fusion_level is -1"):
        run(lower, level=-1)

"""Correlation of two feature maps."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import numbers, out_like

SIZES = {"kH": 2, "kW": 1, "patchH": 3, "patchW": 1, "padH": 1, "padW": 0, "dilationH": 2,
         "dilationW": 1, "dilation_patchH": 2, "dilation_patchW": 1, "dH": 2, "dW": 1}  # fmt: skip
PLAIN = dict.fromkeys(SIZES, 1) | {"padH": 0, "padW": 0}


OPERATORS = (
    "CorrelationMmcv",
    "CorrelationBackwardMmcv",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_of_a_map_with_itself_it_is_the_square(vendor: Vendor) -> None:
    plane = numbers((1, 2, 3, 4), "float64", 123)
    out, x = out_like(vendor, (1, 1, 1, 3, 4), "float64"), vendor.tensor(plane)
    vendor.op.CorrelationMmcv(out, x, x, *PLAIN.values())
    assert np.allclose(out.numpy()[0, 0], (plane**2).sum(1), 1e-14)


def test_bad_sizes_are_reported(vendor: Vendor) -> None:
    x, out = out_like(vendor, (1, 2, 3, 4), "float32"), out_like(vendor, (1, 1, 1, 3, 4), "float32")
    with pytest.raises(OperatorError, match="kH is 0; it must be at least 1"):
        vendor.op.CorrelationMmcv(out, x, x, *(PLAIN | {"kH": 0}).values())
    with pytest.raises(OperatorError, match="the output has the shape"):
        vendor.op.CorrelationMmcv(out, x, x, *(PLAIN | {"padH": 1}).values())

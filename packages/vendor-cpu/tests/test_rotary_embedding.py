"""Rotary position embedding."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import numbers, out_like, place

OPERATORS = (
    "RotaryEmbedding",
    "RotaryEmbeddingV2",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}", models=False)


@pytest.mark.parametrize("interleaved", [True, False])
def test_output_may_be_the_input(vendor: Vendor, interleaved: bool) -> None:
    x, _ = place(vendor, numbers((5, 8), "float32", 4), "float32")
    cos, _ = place(vendor, numbers((5, 4), "float32", 5), "float32")
    sin, _ = place(vendor, numbers((5, 4), "float32", 6), "float32")
    out = out_like(vendor, (5, 8), "float32")
    vendor.op.RotaryEmbedding(out, x, cos, sin, False, interleaved)
    vendor.op.RotaryEmbedding(x, x, cos, sin, False, interleaved)
    assert np.array_equal(x.numpy(), out.numpy())


def test_what_has_no_pairs(vendor: Vendor) -> None:
    odd, angle = out_like(vendor, (2, 3), "float32"), out_like(vendor, (2, 1), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiRotaryEmbedding\].* even length"):
        vendor.op.RotaryEmbedding(odd, odd, angle, angle, False, False)
    with pytest.raises(OperatorError, match=r"dim is 3; it must be even"):
        vendor.op.RotaryEmbeddingV2(odd, odd, odd, odd, 3)
    even = out_like(vendor, (2, 4), "float32")
    wrong = out_like(vendor, (3,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiRotaryEmbedding\] cos has 3 elements"):
        vendor.op.RotaryEmbedding(even, even, wrong, angle, False, False)

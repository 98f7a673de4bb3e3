"""Utilities of the tests of activation functions: special values, and checks of table entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from functions import Reference
from support import check, numbers, out_like, place

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e30])

Forward = tuple[tuple[float, ...], Reference, OpClass]
"""Arguments, reference and error class."""

Backward = tuple[tuple[float, ...], Reference]
"""Arguments and derivative."""

OfSpecial = tuple[tuple[Any, ...], list[float]]
"""Arguments, and the results of PyTorch's CPU kernels for the special values."""


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def check_activation(vendor: Vendor, name: str, forward: Forward, dtype: str, layout: str) -> None:
    """Compare the function with its reference, out of place and in place."""
    arguments, reference, op_class = forward
    x, values = place(vendor, numbers((3, 5, 37), dtype, 71, -9, 9), dtype, layout)
    out = out_like(vendor, (3, 5, 37), dtype, layout)
    vendor.op[f"dlop{name}"](out, x, *arguments)
    check(out, reference(values), op_class, name)
    vendor.op[f"dlop{name}"](x, x, *arguments)
    assert np.array_equal(x.numpy(), out.numpy())


def check_gradient(vendor: Vendor, name: str, backward: Backward, dtype: str, layout: str) -> None:
    """Compare the gradient with the derivative."""
    arguments, slope = backward
    x, values = place(vendor, numbers((3, 41), dtype, 72, -9, 9), dtype, layout)
    g, grad = place(vendor, numbers((3, 41), dtype, 73), dtype)
    out = out_like(vendor, (3, 41), dtype, layout)
    vendor.op[f"dlop{name}"](out, g, x, *arguments)
    # The gradient of Mish passes through 0, where its two terms cancel.
    magnitude = 2 * np.abs(grad)
    want = grad * slope(values)
    check(out, want, OpClass.REDUCTION, name, reduction_length=4, magnitude=magnitude)


def check_special(vendor: Vendor, name: str, special: OfSpecial, dtype: str) -> None:
    """Compare the results for special values, or for a gradient of 2 there, with known ones."""
    arguments, want = special
    x = place(vendor, SPECIAL, dtype)[0]
    out = out_like(vendor, SPECIAL.shape, dtype)
    gradient = [place(vendor, np.full(SPECIAL.shape, 2.0), dtype)[0]] if "Backward" in name else []
    vendor.op[f"dlop{name}"](out, *gradient, x, *arguments)
    got = out.numpy()
    assert np.allclose(got, want, rtol=1e-6, atol=0, equal_nan=True), got
    if name in ("Elu", "Mish"):
        assert np.array_equal(np.signbit(got[3:5]), [False, True])

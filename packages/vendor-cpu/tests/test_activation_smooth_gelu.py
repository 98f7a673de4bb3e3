"""GELU by the error function and by tanh, and its gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, check, exact, numbers, out_like, place, stored

erf = np.vectorize(math.erf, otypes=[np.longdouble])


def gelu(x: Any) -> Any:
    return x * (1 + erf(x / np.sqrt(np.longdouble(2)))) / 2


def gelu_tanh(x: Any) -> Any:
    return (
        x
        * (1 + np.tanh(np.sqrt(2 / np.longdouble(np.pi)) * (x + np.longdouble(0.044715) * x**3)))
        / 2
    )


def gelu_slope(x: Any) -> Any:
    pi = np.longdouble(np.pi)
    return (1 + erf(x / np.sqrt(np.longdouble(2)))) / 2 + x * np.exp(-x * x / 2) / np.sqrt(2 * pi)


def gelu_tanh_slope(x: Any) -> Any:
    factor, cubic = np.sqrt(2 / np.longdouble(np.pi)), np.longdouble(0.044715)
    t = np.tanh(factor * (x + cubic * x**3))
    return (1 + t) / 2 + x * (1 - t * t) / 2 * factor * (1 + 3 * cubic * x * x)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gelu_and_its_gradient(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((3, 41), dtype, 61, -4, 4), dtype, layout)
    g, grad = place(vendor, numbers((3, 41), dtype, 62), dtype)
    out = out_like(vendor, (3, 41), dtype, layout)
    # Near -4 the two terms of 1 + erf cancel: the error is relative to x, as in PyTorch.
    for kind, reference, slope in (
        ("none", gelu, gelu_slope),
        ("tanh", gelu_tanh, gelu_tanh_slope),
    ):
        vendor.op.Gelu(out, a, kind)
        check(out, reference(x), OpClass.REDUCTION, "Gelu", reduction_length=2, magnitude=np.abs(x))
        vendor.op.GeluBackward(out, g, a, kind)
        check(
            out,
            grad * slope(x),
            OpClass.REDUCTION,
            "GeluBackward",
            reduction_length=4,
            magnitude=np.abs(grad) * (1 + np.abs(x)),
        )


def test_error_of_gelu_on_its_whole_range(vendor: Vendor) -> None:
    x = np.linspace(-9, 9, 200_001, dtype=np.float32)
    wide = x.astype(np.longdouble)
    value, slope = gelu(wide), gelu_slope(wide)
    out, grad = out_like(vendor, x.shape, "float32"), out_like(vendor, x.shape, "float32")
    vendor.op.Gelu(out, vendor.tensor(x), "none")
    vendor.op.GeluBackward(grad, vendor.tensor(np.ones_like(x)), vendor.tensor(x), "none")
    below = 2.0**-23
    assert np.abs(out.numpy() - value).max() <= below * 9  # an ulp of the largest value
    left = x < 0
    assert np.abs(out.numpy() - value)[left].max() <= below
    assert np.abs(grad.numpy() - slope).max() <= 2 * below


def test_gelu_of_every_bfloat16_is_nearly_rounded_once(vendor: Vendor) -> None:
    six = int(stored(6, "bfloat16"))
    bits = np.arange(1 << 16, dtype=np.uint16)
    bits = bits[bits % (1 << 15) < six]  # only numbers below 6 in magnitude
    out = out_like(vendor, bits.shape, "bfloat16")
    vendor.op.Gelu(out, vendor.tensor(bits, dtype="bfloat16"), "none")
    want = gelu(exact(bits, "bfloat16"))
    last_place = np.ldexp(1.0, np.maximum(np.frexp(np.abs(want))[1] - 1, -126) - 7)
    error = np.abs(exact(out.numpy(), "bfloat16") - want)
    # Subnormal numbers may be flushed to zero.
    assert np.all(error <= 0.525 * last_place + 2.0**-126)


def test_limits_of_gelu(vendor: Vendor) -> None:
    x = np.array([np.nan, np.inf, -np.inf, -100.0, 100.0, 0.0, -0.0, 1e-30, -1e-38], np.float32)
    out, grad = out_like(vendor, x.shape, "float32"), out_like(vendor, x.shape, "float32")
    vendor.op.Gelu(out, vendor.tensor(x), "none")
    vendor.op.GeluBackward(grad, vendor.tensor(np.ones_like(x)), vendor.tensor(x), "none")
    want = np.array([np.nan, np.inf, 0, 0, 100.0, 0.0, -0.0, 5e-31, -5e-39])
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-6, atol=1e-8)
    assert np.signbit(out.numpy()[6])
    assert not np.signbit(out.numpy()[5])
    slope = np.array([np.nan, 1, 0, 0, 1, 0.5, 0.5, 0.5, 0.5])
    np.testing.assert_allclose(grad.numpy(), slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gelu_vanishes_far_below_zero(vendor: Vendor, dtype: str) -> None:
    x = np.array([-7.0, -41.0, -1e30, -np.inf], dtype)
    out, grad = out_like(vendor, x.shape, dtype), out_like(vendor, x.shape, dtype)
    vendor.op.Gelu(out, vendor.tensor(x), "none")
    vendor.op.GeluBackward(grad, vendor.tensor(np.ones_like(x)), vendor.tensor(x), "none")
    assert np.abs(out.numpy()[0]) <= 1e-11
    assert np.abs(grad.numpy()[0]) <= 7e-11
    assert not out.numpy()[1:].any()
    assert not grad.numpy()[1:].any()

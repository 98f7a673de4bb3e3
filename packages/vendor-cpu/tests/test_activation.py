"""Activation functions with parameters, and gradients of pointwise functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, check, numbers, out_like, place

erf = np.vectorize(math.erf, otypes=[np.longdouble])


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradients_of_functions(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((3, 41), dtype, 63, -0.9, 0.9), dtype, layout)
    g, grad = place(vendor, numbers((3, 41), dtype, 64), dtype)
    out = out_like(vendor, (3, 41), dtype)
    s = sigmoid(x)
    cases = {
        "TanhBackward": grad * (1 - x * x),
        "SigmoidBackward": grad * (1 - x) * x,
        "SiluBackward": grad * s * (1 + x * (1 - s)),
    }
    for name, want in cases.items():
        vendor.op[f"diopi{name}"](out, g, a)
        check(out, want, OpClass.REDUCTION, name, reduction_length=2, magnitude=2 * np.abs(grad))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_piecewise_linear_functions(vendor: Vendor, dtype: str, layout: str) -> None:
    source = numbers((3, 41), dtype, 65, -4, 4)
    a, x = place(vendor, source, dtype, layout)
    g, grad = place(vendor, numbers((3, 41), dtype, 66), dtype, layout)
    out = out_like(vendor, (3, 41), dtype, layout)
    forward: list[tuple[str, tuple[Any, ...], Any]] = [
        ("LeakyRelu", (0.25,), np.where(x > 0, x, x / 4)),
        ("Hardtanh", (-1, 2), np.clip(x, -1, 2)),
        ("Threshold", (0.5, 20), np.where(x <= 0.5, 20, x)),
    ]
    for name, arguments, want in forward:
        vendor.op[f"diopi{name}"](out, a, *arguments)
        check(out, want, OpClass.ROUNDING, name)
        b = place(vendor, source, dtype, layout)[0]
        vendor.op[f"diopi{name}Inp"](b, *arguments)
        assert np.array_equal(b.numpy(), out.numpy())
    backward: list[tuple[str, tuple[Any, ...], Any]] = [
        ("LeakyReluBackward", (0.25, False), np.where(x > 0, grad, grad / 4)),
        ("HardtanhBackward", (-1, 2), np.where((x <= -1) | (x >= 2), 0, grad)),
        ("ThresholdBackward", (0.5,), np.where(x <= 0.5, 0, grad)),
    ]
    for name, arguments, want in backward:
        vendor.op[f"diopi{name}"](out, g, a, *arguments)
        check(out, want, OpClass.ROUNDING, name)
    vendor.op.HardswishBackward(out, g, a)
    inner = np.where(x <= -3, 0, np.where(x < 3, x / 3 + np.longdouble(0.5), 1))
    check(
        out,
        grad * inner,
        OpClass.REDUCTION,
        "HardswishBackward",
        reduction_length=2,
        magnitude=2 * np.abs(grad),
    )


def test_threshold_gradient_passes_where_the_input_is_nan(vendor: Vendor) -> None:
    x = vendor.tensor(np.array([np.nan, 1.0, -1.0], np.float32))
    out = out_like(vendor, (3,), "float32")
    vendor.op.ThresholdBackward(out, vendor.tensor(np.ones(3, np.float32)), x, 0)
    assert out.numpy().tolist() == [1.0, 1.0, 0.0]


def test_leaky_relu_from_its_result_needs_a_slope_that_keeps_signs(vendor: Vendor) -> None:
    x = out_like(vendor, (2,), "float32")
    with pytest.raises(OperatorError, match="negative_slope"):
        vendor.op.LeakyReluBackward(x, x, x, -0.5, True)

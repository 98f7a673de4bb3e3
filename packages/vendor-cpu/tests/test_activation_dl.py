"""Activation functions of the contract's own, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, check, numbers, out_like, place, units_of_last_place

Function = Callable[[Any], Any]

ALPHA, SCALE, INPUT_SCALE = 1.5, 2.0, 0.75
BETA, THRESHOLD = 0.5, 3.0
BOUND = 0.5


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def mish_slope(x: Any) -> Any:
    t = np.tanh(softplus(x))
    return t + x * sigmoid(x) * (1 - t * t)


# name: (arguments, reference, class)
FORWARD: dict[str, tuple[tuple[float, ...], Function, OpClass]] = {
    "Elu": (
        (ALPHA, SCALE, INPUT_SCALE),
        lambda x: SCALE * np.where(x < 0, ALPHA * np.expm1(INPUT_SCALE * x), x),
        OpClass.ELEMENTARY,
    ),
    "Softplus": (
        (BETA, THRESHOLD),
        lambda x: np.where(BETA * x > THRESHOLD, x, softplus(BETA * x) / BETA),
        OpClass.ELEMENTARY,
    ),
    "Mish": ((), lambda x: x * np.tanh(softplus(x)), OpClass.ELEMENTARY),
    "Hardsigmoid": ((), lambda x: np.clip(x + 3, 0, 6) / 6, OpClass.ELEMENTARY),
    "Hardshrink": ((BOUND,), lambda x: np.where(np.abs(x) <= BOUND, 0, x), OpClass.EXACT),
    "Softshrink": (
        (BOUND,),
        lambda x: np.where(np.abs(x) <= BOUND, 0, x - np.copysign(BOUND, x)),
        OpClass.ROUNDING,
    ),
}
# name: (arguments, derivative)
BACKWARD: dict[str, tuple[tuple[float, ...], Function]] = {
    "EluBackward": (
        (ALPHA, SCALE, INPUT_SCALE, False),
        lambda x: SCALE * np.where(x > 0, 1, ALPHA * INPUT_SCALE * np.exp(INPUT_SCALE * x)),
    ),
    "SoftplusBackward": (
        (BETA, THRESHOLD),
        lambda x: np.where(BETA * x > THRESHOLD, 1, sigmoid(BETA * x)),
    ),
    "MishBackward": ((), mish_slope),
    "HardsigmoidBackward": ((), lambda x: np.where(np.abs(x) < 3, 1, 0) / np.longdouble(6)),
    "ShrinkBackward": ((BOUND,), lambda x: np.where(np.abs(x) > BOUND, 1, 0)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FORWARD)
def test_activation_agrees_with_reference(
    vendor: Vendor, name: str, dtype: str, layout: str
) -> None:
    arguments, reference, op_class = FORWARD[name]
    x, values = place(vendor, numbers((3, 5, 37), dtype, 71, -9, 9), dtype, layout)
    out = out_like(vendor, (3, 5, 37), dtype, layout)
    vendor.op[f"dlop{name}"](out, x, *arguments)
    check(out, reference(values), op_class, name)
    vendor.op[f"dlop{name}"](x, x, *arguments)
    assert np.array_equal(x.numpy(), out.numpy())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BACKWARD)
def test_gradient_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    arguments, slope = BACKWARD[name]
    x, values = place(vendor, numbers((3, 41), dtype, 72, -9, 9), dtype, layout)
    g, grad = place(vendor, numbers((3, 41), dtype, 73), dtype)
    out = out_like(vendor, (3, 41), dtype, layout)
    vendor.op[f"dlop{name}"](out, g, x, *arguments)
    # The gradient of Mish passes through 0, where its two terms cancel.
    magnitude = 2 * np.abs(grad)
    want = grad * slope(values)
    check(out, want, OpClass.REDUCTION, name, reduction_length=4, magnitude=magnitude)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_elu_gradient_from_the_result(vendor: Vendor, dtype: str, layout: str) -> None:
    y, values = place(vendor, numbers((3, 41), dtype, 74, -1, 3), dtype, layout)
    g, grad = place(vendor, numbers((3, 41), dtype, 75), dtype)
    out = out_like(vendor, (3, 41), dtype, layout)
    vendor.op.dlopEluBackward(out, g, y, ALPHA, SCALE, INPUT_SCALE, True)
    slope = np.where(values > 0, SCALE, (values + ALPHA * SCALE) * INPUT_SCALE)
    magnitude = 3 * np.abs(grad)
    check(
        out,
        grad * slope,
        OpClass.REDUCTION,
        "EluBackward",
        reduction_length=3,
        magnitude=magnitude,
    )


def test_elu_gradient_from_the_result_needs_a_slope_that_keeps_signs(vendor: Vendor) -> None:
    x = out_like(vendor, (2,), "float32")
    with pytest.raises(OperatorError, match=r"alpha -0\.5"):
        vendor.op.dlopEluBackward(x, x, x, -0.5, 1.0, 1.0, True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(3, 41), (300, 211), (0,), ()])
def test_log_sigmoid_its_buffer_and_its_gradient(
    vendor: Vendor, shape: tuple[int, ...], dtype: str, layout: str
) -> None:
    x, values = place(vendor, numbers(shape, dtype, 76, -9, 9), dtype, layout)
    out, buffer = out_like(vendor, shape, dtype, layout), out_like(vendor, shape, dtype)
    vendor.op.dlopLogSigmoid(out, buffer, x)
    check(out, -softplus(-values), OpClass.ELEMENTARY, "LogSigmoid")
    check(buffer, np.exp(-np.abs(values)), OpClass.ELEMENTARY, "LogSigmoid's buffer")
    e, kept = place(vendor, np.exp(-np.abs(values)), dtype, layout)
    g, grad = place(vendor, numbers(shape, dtype, 80), dtype)
    vendor.op.dlopLogSigmoidBackward(out, g, x, e)
    want = grad * np.where(values < 0, 1, kept) / (1 + kept)
    check(out, want, OpClass.ELEMENTARY, "LogSigmoidBackward")


def test_log_sigmoid_needs_tensors_of_one_shape(vendor: Vendor) -> None:
    x, y = out_like(vendor, (2,), "float32"), out_like(vendor, (3,), "float32")
    with pytest.raises(OperatorError, match="one shape"):
        vendor.op.dlopLogSigmoid(x, y, x)


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e30])
# What comes of the special numbers, as PyTorch's CPU kernels have it; gradients of 2.
OF_SPECIAL: dict[str, tuple[tuple[Any, ...], list[float]]] = {
    "Elu": ((1.5, 1.0, 1.0), [np.nan, np.inf, -1.5, 0.0, -0.0, 1e30, -1.5]),
    "Softplus": ((1.0, 20.0), [np.nan, np.inf, 0.0, np.log(2.0), np.log(2.0), 1e30, 0.0]),
    "Mish": ((), [np.nan, np.inf, np.nan, 0.0, -0.0, 1e30, -0.0]),
    "Hardsigmoid": ((), [np.nan, 1.0, 0.0, 0.5, 0.5, 1.0, 0.0]),
    "Hardshrink": ((0.5,), [np.nan, np.inf, -np.inf, 0.0, 0.0, 1e30, -1e30]),
    "Softshrink": ((0.5,), [np.nan, np.inf, -np.inf, 0.0, 0.0, 1e30, -1e30]),
    "EluBackward": ((1.5, 2.0, 0.5, False), [np.nan, 4.0, 0.0, 3.0, 3.0, 4.0, 0.0]),
    "SoftplusBackward": ((1.0, 20.0), [np.nan, 2.0, 0.0, 1.0, 1.0, 2.0, 0.0]),
    "MishBackward": ((), [np.nan, np.nan, np.nan, 1.2, 1.2, 2.0, 0.0]),
    "HardsigmoidBackward": ((), [0.0, 0.0, 0.0, 1 / 3, 1 / 3, 0.0, 0.0]),
    "ShrinkBackward": ((0.5,), [0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 2.0]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OF_SPECIAL)
def test_special_numbers(vendor: Vendor, name: str, dtype: str) -> None:
    arguments, want = OF_SPECIAL[name]
    x = place(vendor, SPECIAL, dtype)[0]
    out = out_like(vendor, SPECIAL.shape, dtype)
    gradient = [place(vendor, np.full(SPECIAL.shape, 2.0), dtype)[0]] if "Backward" in name else []
    vendor.op[f"dlop{name}"](out, *gradient, x, *arguments)
    got = out.numpy()
    assert np.allclose(got, want, rtol=1e-6, atol=0, equal_nan=True), got
    if name in ("Elu", "Mish"):
        assert np.array_equal(np.signbit(got[3:5]), [False, True])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_log_sigmoid_of_special_numbers(vendor: Vendor, dtype: str) -> None:
    out, buffer = (out_like(vendor, SPECIAL.shape, dtype) for _ in range(2))
    vendor.op.dlopLogSigmoid(out, buffer, place(vendor, SPECIAL, dtype)[0])
    log2 = np.log(2.0)
    want = [np.nan, 0.0, -np.inf, -log2, -log2, 0.0, -1e30]
    assert np.allclose(out.numpy(), want, rtol=1e-6, atol=0, equal_nan=True)
    want = [np.nan, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    assert np.allclose(buffer.numpy(), want, rtol=0, atol=0, equal_nan=True)
    gradient = place(vendor, np.full(SPECIAL.shape, 2.0), dtype)[0]
    vendor.op.dlopLogSigmoidBackward(out, gradient, place(vendor, SPECIAL, dtype)[0], buffer)
    want = [np.nan, 0.0, 2.0, 1.0, 1.0, 0.0, 2.0]
    assert np.allclose(out.numpy(), want, rtol=1e-6, atol=0, equal_nan=True)


# name: (arguments, reference in float64, the smallest input, the largest error in units of the last
# place). Below -87 the exponential has less than 24 bits, and Mish multiplies its error.
WHOLE_RANGE: dict[str, tuple[tuple[float, ...], Function, float, float]] = {
    "Elu": (
        (1.0, 1.0, 1.0),
        lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),
        -np.inf,
        1.7,
    ),
    "Softplus": ((1.0, 1e30), softplus, -np.inf, 2.5),
    "Mish": ((), lambda x: x * np.tanh(softplus(x)), -87.0, 4.0),
}


@pytest.mark.parametrize("name", WHOLE_RANGE)
def test_error_over_the_whole_range(vendor: Vendor, name: str) -> None:
    arguments, reference, low, bound = WHOLE_RANGE[name]
    # Bit patterns spread evenly: every exponent is there, subnormal numbers are too.
    x = np.arange(0, 1 << 32, 2027, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x) & (x >= low)]
    out = out_like(vendor, x.shape, "float32")
    vendor.op[f"dlop{name}"](out, vendor.tensor(x), *arguments)
    want = reference(x.astype(np.float64))
    error = np.abs(out.numpy().astype(np.float64) - want) / units_of_last_place(want)
    # A GPU computes with its own library's functions.
    most = bound if vendor.host_accessible else 8.0
    assert error.max() <= most, f"{error.max()} at {x[error.argmax()]!r}"

"""Smooth activation functions and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from activations import (
    Backward,
    Forward,
    OfSpecial,
    check_activation,
    check_gradient,
    check_special,
    softplus,
)
from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from functions import (
    Function,
    Reference,
    check_function,
    check_limits,
    check_many_elements,
    sigmoid,
)
from support import FLOATS, LAYOUTS, check, numbers, out_like, place, units_of_last_place

ALPHA, SCALE, INPUT_SCALE = 1.5, 2.0, 0.75
BETA, THRESHOLD = 0.5, 3.0


def mish_slope(x: Any) -> Any:
    t = np.tanh(softplus(x))
    return t + x * sigmoid(x) * (1 - t * t)


FUNCTIONS = {
    "Tanh": Function(np.tanh, OpClass.ELEMENTARY, -9.0, 9.0),
    "Sigmoid": Function(sigmoid, OpClass.ELEMENTARY, -20.0, 20.0),
    "Silu": Function(lambda x: x * sigmoid(x), OpClass.ELEMENTARY, -9.0, 9.0),
}
FORWARD: dict[str, Forward] = {
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
}
BACKWARD: dict[str, Backward] = {
    "EluBackward": (
        (ALPHA, SCALE, INPUT_SCALE, False),
        lambda x: SCALE * np.where(x > 0, 1, ALPHA * INPUT_SCALE * np.exp(INPUT_SCALE * x)),
    ),
    "SoftplusBackward": (
        (BETA, THRESHOLD),
        lambda x: np.where(BETA * x > THRESHOLD, 1, sigmoid(BETA * x)),
    ),
    "MishBackward": ((), mish_slope),
}
OF_SPECIAL: dict[str, OfSpecial] = {
    "Elu": ((1.5, 1.0, 1.0), [np.nan, np.inf, -1.5, 0.0, -0.0, 1e30, -1.5]),
    "Softplus": ((1.0, 20.0), [np.nan, np.inf, 0.0, np.log(2.0), np.log(2.0), 1e30, 0.0]),
    "Mish": ((), [np.nan, np.inf, np.nan, 0.0, -0.0, 1e30, -0.0]),
    "EluBackward": ((1.5, 2.0, 0.5, False), [np.nan, 4.0, 0.0, 3.0, 3.0, 4.0, 0.0]),
    "SoftplusBackward": ((1.0, 20.0), [np.nan, 2.0, 0.0, 1.0, 1.0, 2.0, 0.0]),
    "MishBackward": ((), [np.nan, np.nan, np.nan, 1.2, 1.2, 2.0, 0.0]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_function(vendor, name, FUNCTIONS[name], dtype, layout)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_many_elements(vendor: Vendor, name: str) -> None:
    check_many_elements(vendor, name, FUNCTIONS[name])


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_pass_through(vendor: Vendor, dtype: str) -> None:
    for name in ("Tanh", "Sigmoid"):
        check_limits(vendor, name, FUNCTIONS[name].reference, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FORWARD)
def test_activation_agrees_with_reference(
    vendor: Vendor, name: str, dtype: str, layout: str
) -> None:
    check_activation(vendor, name, FORWARD[name], dtype, layout)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BACKWARD)
def test_gradient_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_gradient(vendor, name, BACKWARD[name], dtype, layout)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OF_SPECIAL)
def test_special_numbers(vendor: Vendor, name: str, dtype: str) -> None:
    check_special(vendor, name, OF_SPECIAL[name], dtype)


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
    with pytest.raises(OperatorError, match=r"alpha is -0\.5"):
        vendor.op.dlopEluBackward(x, x, x, -0.5, 1.0, 1.0, True)


# name: (arguments, reference in float64, the smallest input, the largest error in units in the last
# place). Below -87 the exponential has less than 24 bits, and Mish multiplies its error.
WHOLE_RANGE: dict[str, tuple[tuple[float, ...], Reference, float, float]] = {
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
    # Evenly spaced bit patterns, which include every exponent and subnormal numbers.
    x = np.arange(0, 1 << 32, 2027, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x) & (x >= low)]
    out = out_like(vendor, x.shape, "float32")
    vendor.op[f"dlop{name}"](out, vendor.tensor(x), *arguments)
    want = reference(x.astype(np.float64))
    error = np.abs(out.numpy().astype(np.float64) - want) / units_of_last_place(want)
    # A GPU uses its own library's functions.
    most = bound if vendor.host_accessible else 8.0
    assert error.max() <= most, f"{error.max()} at {x[error.argmax()]!r}"

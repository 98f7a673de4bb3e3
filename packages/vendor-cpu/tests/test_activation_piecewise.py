"""Tests of piecewise linear and quadratic activation functions, and their gradients."""

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
)
from diopi_proto import ArgumentError, OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from functions import Function, Step, check_function, check_limits, check_many_elements, check_step
from suite import check_cases
from support import FLOATS, LAYOUTS, NUMBERS, check, numbers, out_like, place

BOUND = 0.5
FUNCTIONS = {
    "Hardswish": Function(lambda x: x * np.clip(x + 3, 0, 6) / 6, OpClass.ELEMENTARY, -5.0, 5.0)
}
STEPS = {"Relu": Step(lambda x: np.maximum(x, 0), NUMBERS)}
FORWARD: dict[str, Forward] = {
    "Hardsigmoid": ((), lambda x: np.clip(x + 3, 0, 6) / 6, OpClass.ELEMENTARY),
    "Hardshrink": ((BOUND,), lambda x: np.where(np.abs(x) <= BOUND, 0, x), OpClass.EXACT),
    "Softshrink": (
        (BOUND,),
        lambda x: np.where(np.abs(x) <= BOUND, 0, x - np.copysign(BOUND, x)),
        OpClass.ROUNDING,
    ),
}
BACKWARD: dict[str, Backward] = {
    "HardsigmoidBackward": ((), lambda x: np.where(np.abs(x) < 3, 1, 0) / np.longdouble(6)),
    "ShrinkBackward": ((BOUND,), lambda x: np.where(np.abs(x) > BOUND, 1, 0)),
}
OF_SPECIAL: dict[str, OfSpecial] = {
    "Hardsigmoid": ((), [np.nan, 1.0, 0.0, 0.5, 0.5, 1.0, 0.0]),
    "Hardshrink": ((0.5,), [np.nan, np.inf, -np.inf, 0.0, 0.0, 1e30, -1e30]),
    "Softshrink": ((0.5,), [np.nan, np.inf, -np.inf, 0.0, 0.0, 1e30, -1e30]),
    "HardsigmoidBackward": ((), [0.0, 0.0, 0.0, 1 / 3, 1 / 3, 0.0, 0.0]),
    "ShrinkBackward": ((0.5,), [0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 2.0]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_function(vendor, name, FUNCTIONS[name], dtype, layout)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_many_elements(vendor: Vendor, name: str) -> None:
    check_many_elements(vendor, name, FUNCTIONS[name])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, s in STEPS.items() for d in s.dtypes])
def test_step_is_exact(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_step(vendor, name, STEPS[name], dtype, layout)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_pass_through(vendor: Vendor, dtype: str) -> None:
    check_limits(vendor, "Relu", STEPS["Relu"].reference, dtype)


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


def test_fused_bias_and_leaky_relu_of_the_suite(vendor: Vendor) -> None:
    check_cases(vendor, "diopiFusedBiasLeakyreluMmcv")


def test_fused_bias_and_leaky_relu_is_both_after_each_other(vendor: Vendor) -> None:
    source, shift = numbers((3, 5, 7), "float64", 9), numbers((5,), "float64", 10)
    x, bias = vendor.tensor(source), vendor.tensor(shift)
    got = vendor.op.FusedBiasLeakyreluMmcv(x, bias, None, 3, 0, 0.25, 2.0)
    summed = source + shift[:, None]
    assert np.array_equal(got.numpy(), 2 * np.where(summed > 0, summed, summed / 4))
    slope = vendor.op.FusedBiasLeakyreluMmcv(x, None, got, 3, 1, 0.25, 2.0)
    assert np.array_equal(slope.numpy(), source * np.where(summed > 0, 2, 0.5))


def test_second_derivative_of_leaky_relu_is_0_everywhere(vendor: Vendor) -> None:
    x = vendor.tensor(np.array([[np.nan, np.inf], [1.0, -1.0]], np.float32))
    got = vendor.op.FusedBiasLeakyreluMmcv(x, None, x, 3, 2, 0.25, 2.0)
    assert np.array_equal(got.numpy(), np.zeros((2, 2), np.float32))


def test_bad_arguments_of_fused_bias_and_leaky_relu_are_reported(vendor: Vendor) -> None:
    x, line = out_like(vendor, (2, 3), "float32"), out_like(vendor, (2,), "float32")

    def call(*arguments: Any) -> None:
        vendor.op.FusedBiasLeakyreluMmcv(*arguments, 0.25, 1.0)

    with pytest.raises(ArgumentError, match="act: got 2"):
        call(x, None, None, 2, 0)
    with pytest.raises(ArgumentError, match="grad: got 3"):
        call(x, None, None, 3, 3)
    with pytest.raises(OperatorError, match="the first derivative needs refer"):
        call(x, None, None, 3, 1)
    with pytest.raises(OperatorError, match="the first derivative needs refer"):
        call(x, None, line, 3, 1)
    with pytest.raises(OperatorError, match="a bias of 2 elements does not match 3 channels"):
        call(x, line, None, 3, 0)
    with pytest.raises(OperatorError, match="a bias of 2 elements does not match 0 channels in 1"):
        call(line, line, None, 3, 0)

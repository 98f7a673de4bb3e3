"""Trigonometric and hyperbolic functions, and the angle of points."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from functions import (
    Function,
    Range,
    check_function,
    check_many_elements,
    check_outside_of_domain,
    check_signs_of_zeros,
    check_whole_range,
)
from support import FLOATS, LAYOUTS, check, numbers, out_like, place, units_of_last_place

FUNCTIONS = {
    "Sin": Function(np.sin, OpClass.ELEMENTARY, -9.0, 9.0),
    "Cos": Function(np.cos, OpClass.ELEMENTARY, -9.0, 9.0),
    "Tan": Function(np.tan, OpClass.ELEMENTARY, -1.5, 1.5),
    "Asin": Function(np.arcsin, OpClass.ELEMENTARY, -1.0, 1.0),
    "Acos": Function(np.arccos, OpClass.ELEMENTARY, -1.0, 1.0),
    "Atan": Function(np.arctan, OpClass.ELEMENTARY, -9.0, 9.0),
    "Sinh": Function(np.sinh, OpClass.ELEMENTARY, -5.0, 5.0),
    "Cosh": Function(np.cosh, OpClass.ELEMENTARY, -5.0, 5.0),
    "Asinh": Function(np.arcsinh, OpClass.ELEMENTARY, -9.0, 9.0),
    "Acosh": Function(np.arccosh, OpClass.ELEMENTARY, 1.0, 9.0),
    "Atanh": Function(np.arctanh, OpClass.ELEMENTARY, -0.9, 0.9),
}
WHOLE_RANGE = {
    "Tan": Range(np.tan, -4e6, 4e6, 0.6),
    "Atan": Range(np.arctan, -np.inf, np.inf, 1.4),
    "Asin": Range(np.arcsin, -1.0, 1.0, 2.4),
    "Acos": Range(np.arccos, -1.0, 1.0, 1.2),
    "Sinh": Range(np.sinh, -89.0, 89.0, 2.4),
    "Cosh": Range(np.cosh, -89.0, 89.0, 1.6),
    "Asinh": Range(np.arcsinh, -np.inf, np.inf, 2.2),
    "Acosh": Range(np.arccosh, 1.0, np.inf, 2.4),
    "Atanh": Range(np.arctanh, -1.0, 1.0, 2.6),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_function(vendor, name, FUNCTIONS[name], dtype, layout)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_many_elements(vendor: Vendor, name: str) -> None:
    check_many_elements(vendor, name, FUNCTIONS[name])


@pytest.mark.parametrize("name", WHOLE_RANGE)
def test_error_over_the_whole_range(vendor: Vendor, name: str) -> None:
    check_whole_range(vendor, name, WHOLE_RANGE[name])


@pytest.mark.parametrize("name", WHOLE_RANGE)
def test_values_outside_of_the_domain(vendor: Vendor, name: str) -> None:
    check_outside_of_domain(vendor, name, WHOLE_RANGE[name])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_angle_of_points(vendor: Vendor, dtype: str, layout: str) -> None:
    y, ys = place(vendor, numbers((5, 3, 37), dtype, 77, -9, 9), dtype, layout)
    x, xs = place(vendor, numbers((3, 37), dtype, 78, -9, 9), dtype)
    out = out_like(vendor, (5, 3, 37), dtype, layout)
    vendor.op.dlopAtan2(out, y, x)
    check(out, np.arctan2(ys, xs), OpClass.ELEMENTARY, "Atan2")


def test_error_of_angles_over_the_whole_range(vendor: Vendor) -> None:
    random = np.random.default_rng(79)
    bits = random.integers(0, 1 << 32, (2, 1_000_000), dtype=np.uint64).astype(np.uint32)
    # Half of the points have coordinates of similar magnitude, where the angle is neither 0 nor
    # π/2.
    bits[1, ::2] = (bits[0, ::2] & 0x7F800000) | (bits[1, ::2] & 0x807FFFFF)
    y, x = bits.view(np.float32)
    finite = np.isfinite(x) & np.isfinite(y)
    y, x = y[finite], x[finite]
    out = out_like(vendor, x.shape, "float32")
    vendor.op.dlopAtan2(out, vendor.tensor(y), vendor.tensor(x))
    want = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    error = np.abs(out.numpy().astype(np.float64) - want) / units_of_last_place(want)
    most = 2.0 if vendor.host_accessible else 4.0
    worst = error.argmax()
    assert error.max() <= most, f"{error.max()} at {y[worst]!r}, {x[worst]!r}"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_angles_of_special_points(vendor: Vendor, dtype: str) -> None:
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40])
    y, x = (part.ravel().astype(dtype) for part in np.meshgrid(values, values))
    out = out_like(vendor, y.shape, dtype)
    vendor.op.dlopAtan2(out, vendor.tensor(y), vendor.tensor(x))
    got, want = out.numpy(), np.arctan2(y.astype(np.float64), x.astype(np.float64))
    assert np.allclose(got, want, rtol=1e-6, atol=1e-44, equal_nan=True)
    known = ~np.isnan(want)
    assert np.array_equal(np.signbit(got[known]), np.signbit(want[known]))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["Sin", "Tan"])
def test_zeros_keep_their_signs(vendor: Vendor, name: str, dtype: str) -> None:
    check_signs_of_zeros(vendor, name, dtype)

"""The error function and the logarithm of the gamma function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from functions import Function, check_function, check_many_elements
from support import FLOATS, LAYOUTS, check, numbers, out_like, place, units_of_last_place

erf = np.vectorize(math.erf, otypes=[np.longdouble])
lgamma = np.vectorize(math.lgamma, otypes=[np.float64])


def precise_lgamma(x: Any) -> Any:
    """For positive x: Stirling's series where it converges, and log Γ(x) = log Γ(x + 1) - log x."""
    z = np.asarray(x, np.longdouble) + 32
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * z**2)) / z**2) / z**2) / z
    total = (z - 0.5) * np.log(z) - z + np.log(2 * np.longdouble(math.pi)) / 2 + series
    return total - sum(np.log(z - k) for k in range(1, 33))


FUNCTIONS = {"Erf": Function(erf, OpClass.ELEMENTARY, -4.0, 4.0)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_reference(vendor: Vendor, name: str, dtype: str, layout: str) -> None:
    check_function(vendor, name, FUNCTIONS[name], dtype, layout)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_many_elements(vendor: Vendor, name: str) -> None:
    check_many_elements(vendor, name, FUNCTIONS[name])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_logarithms_of_gamma(vendor: Vendor, dtype: str, layout: str) -> None:
    x, values = place(vendor, numbers((5, 3, 37), dtype, 81, 2.5, 30), dtype, layout)
    out = out_like(vendor, (5, 3, 37), dtype, layout)
    vendor.op.dlopLgamma(out, x)
    check(out, precise_lgamma(values), OpClass.ELEMENTARY, "Lgamma")


def test_error_on_both_sides_of_zero(vendor: Vendor) -> None:
    x = np.random.default_rng(82).uniform(-8, 8, 100_000).astype(np.float32)
    x = x[np.abs(x - np.rint(x)) > 1e-3]
    out = out_like(vendor, x.shape, "float32")
    vendor.op.dlopLgamma(out, vendor.tensor(x))
    want = lgamma(x.astype(np.float64))
    # Around its zeros, of which there are two for every negative integer, the error is absolute.
    error = np.abs(out.numpy() - want) / units_of_last_place(np.maximum(np.abs(want), 1.0))
    assert error.max() <= 8, f"{error.max()} at {x[error.argmax()]!r}"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_poles_and_limits(vendor: Vendor, dtype: str) -> None:
    x = np.array([0.0, -0.0, -1.0, -7.0, np.inf, -np.inf, np.nan, 1.0, 2.0], dtype)
    out = out_like(vendor, x.shape, dtype)
    vendor.op.dlopLgamma(out, vendor.tensor(x))
    want = np.array([np.inf] * 6 + [np.nan, 0.0, 0.0])
    assert np.array_equal(out.numpy(), want, equal_nan=True)

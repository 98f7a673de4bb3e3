"""The error function, its inverse, and the logarithm of the gamma function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from functions import Function, check_function, check_many_elements
from support import FLOATS, LAYOUTS, check, exact, numbers, out_like, place, units_of_last_place

erf = np.vectorize(math.erf, otypes=[np.longdouble])
lgamma = np.vectorize(math.lgamma, otypes=[np.float64])


def precise_lgamma(x: Any) -> Any:
    """For positive x: Stirling's series where it converges, and log Γ(x) = log Γ(x + 1) - log x."""
    z = np.asarray(x, np.longdouble) + 32
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * z**2)) / z**2) / z**2) / z
    total = (z - 0.5) * np.log(z) - z + np.log(2 * np.longdouble(math.pi)) / 2 + series
    return total - sum(np.log(z - k) for k in range(1, 33))


def precise_erf(x: Any) -> Any:
    """2/√π e^(-x²) Σ 2ⁿ x^(2n+1) / (2n+1)!!, whose terms have one sign."""
    x = np.asarray(x, np.longdouble)
    term = total = x
    for n in range(1, 80):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return total * np.exp(-x * x) * 2 / np.sqrt(4 * np.arctan(np.longdouble(1)))


def erfinv(y: Any) -> Any:
    """By Newton's method, from 0: erf is concave on either side of it."""
    y = np.asarray(y, np.longdouble)
    x = np.zeros_like(y)
    slope = 2 / np.sqrt(4 * np.arctan(np.longdouble(1)))
    for _ in range(40):
        x = x + (y - precise_erf(x)) / (slope * np.exp(-x * x))
    return x


FUNCTIONS = {
    "Erf": Function(erf, OpClass.ELEMENTARY, -4.0, 4.0),
    "Erfinv": Function(erfinv, OpClass.ELEMENTARY, -0.999, 0.999),
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


@pytest.mark.parametrize("dtype", FLOATS)
def test_ends_of_the_inverse_error_function(vendor: Vendor, dtype: str) -> None:
    x, _ = place(vendor, [1, -1, 1.5, -2, np.nan, np.inf, 0.0, -0.0], dtype)
    vendor.op.ErfinvInp(x)
    want = np.array([np.inf, -np.inf, np.nan, np.nan, np.nan, np.nan, 0.0, -0.0])
    check(x, want, OpClass.EXACT, "Erfinv")
    assert np.signbit(exact(x.numpy(), dtype)[6:]).tolist() == [False, True]


def test_inverse_error_function_near_its_ends(vendor: Vendor) -> None:
    x = 1 - np.ldexp(1.0, -np.arange(2, 53))
    out = out_like(vendor, x.shape, "float64")
    vendor.op.Erfinv(out, vendor.tensor(x))
    # A step of Newton's method on erfc, which is well conditioned there, tells how far it is off.
    got = out.numpy().astype(np.longdouble)
    missed = np.vectorize(math.erfc)(out.numpy()) - (1 - x).astype(np.longdouble)
    want = got + missed * np.exp(got * got) * np.sqrt(np.arctan(np.longdouble(1)))
    check(out, want, OpClass.ELEMENTARY, "Erfinv")

"""The gamma function's logarithm and its derivatives, zeta and incomplete gamma functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from suite import check_cases
from support import FLOATS, LAYOUTS, check, numbers, out_like, place, units_of_last_place

lgamma = np.vectorize(math.lgamma, otypes=[np.float64])


@pytest.mark.parametrize("name", ["Lgamma", "Digamma", "Polygamma", "Zeta", "Igamma", "Igammac"])
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"dlop{name}")


def precise_lgamma(x: Any) -> Any:
    """Return log Γ for positive x: Stirling's series where it converges, and log Γ(x) = log Γ(x +
    1) - log x."""
    z = np.asarray(x, np.longdouble) + 32
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * z**2)) / z**2) / z**2) / z
    total = (z - 0.5) * np.log(z) - z + np.log(2 * np.longdouble(math.pi)) / 2 + series
    return total - sum(np.log(z - k) for k in range(1, 33))


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
    # Around its zeros, two for every negative integer, the error is absolute.
    error = np.abs(out.numpy() - want) / units_of_last_place(np.maximum(np.abs(want), 1.0))
    assert error.max() <= 8, f"{error.max()} at {x[error.argmax()]!r}"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_poles_and_limits(vendor: Vendor, dtype: str) -> None:
    x = np.array([0.0, -0.0, -1.0, -7.0, np.inf, -np.inf, np.nan, 1.0, 2.0], dtype)
    out = out_like(vendor, x.shape, dtype)
    vendor.op.dlopLgamma(out, vendor.tensor(x))
    want = np.array([np.inf] * 6 + [np.nan, 0.0, 0.0])
    assert np.array_equal(out.numpy(), want, equal_nan=True)


def test_derivatives_have_an_order(vendor: Vendor) -> None:
    x, out = out_like(vendor, (3,), "float32"), out_like(vendor, (3,), "float32")
    with pytest.raises(OperatorError, match="n is -1; it must be at least 0"):
        vendor.op.dlopPolygamma(out, -1, x)


def test_derivatives_far_below_zero(vendor: Vendor) -> None:
    """Kernels use the periodicity of the sum over all integers: constant time at any distance."""
    x = np.array([-1e6 - 0.25, -(2.0**40) - 0.25, -33.25])
    out = out_like(vendor, x.shape, "float64")
    vendor.op.dlopPolygamma(out, 1, vendor.tensor(x))
    # π² / sin²(π x), minus the remainder of the sum beyond 1 - x.
    beyond = 1 / (0.5 - x) - 1 / (12 * (0.5 - x) ** 3)
    assert np.allclose(out.numpy(), 2 * np.pi**2 - beyond, rtol=1e-10, atol=0)


def test_incomplete_gamma_functions_of_large_arguments(vendor: Vendor) -> None:
    """Near a they converge to the normal distribution: P(a, a + t √a), Temme 1979."""
    a = np.repeat([2e6, 1e9, 1e15], 5)
    t = np.tile([-3.0, -1.0, 0.0, 1.0, 3.0], 3)
    x = a + t * np.sqrt(a)
    lower, upper = (out_like(vendor, a.shape, "float64") for _ in range(2))
    vendor.op.dlopIgamma(lower, vendor.tensor(a), vendor.tensor(x))
    vendor.op.dlopIgammac(upper, vendor.tensor(a), vendor.tensor(x))
    assert np.allclose(lower.numpy() + upper.numpy(), 1, rtol=1e-14, atol=0)
    # Edgeworth's first correction; the next is O(1 / a).
    t = (x - a) / np.sqrt(a)
    normal = np.vectorize(math.erfc)(-t / math.sqrt(2)) / 2
    first = (1 - t * t) * np.exp(-t * t / 2) / np.sqrt(2 * np.pi) / (3 * np.sqrt(a))
    assert (np.abs(lower.numpy() - normal - first) <= 1 / a + 1e-14).all()


def test_methods_meet(vendor: Vendor) -> None:
    """The expansion for large a begins where the series and the fraction end."""
    a = np.repeat([1e6 * (1 - 2.0**-40), 1e6], 5)
    x = np.tile([0.995e6, 0.999e6, 1e6, 1.001e6, 1.005e6], 2)
    out = out_like(vendor, a.shape, "float64")
    vendor.op.dlopIgamma(out, vendor.tensor(a), vendor.tensor(x))
    before, after = out.numpy().reshape(2, 5)
    assert np.allclose(before, after, rtol=1e-8, atol=1e-300)


def test_digamma_next_to_zero_has_the_sign_of_the_pole(vendor: Vendor) -> None:
    x = np.array([-1e-300, -1e-20, 1e-20, 1e-300])
    out = vendor.empty(x.shape, "float64")
    vendor.op.dlopDigamma(out, vendor.tensor(x))
    assert np.allclose(out.numpy() * x, -1)

"""Tests of orthogonal polynomials, whose degrees are given by a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from suite import check_cases
from support import out_like

CHEBYSHEV = (
    "ChebyshevPolynomialT",
    "ChebyshevPolynomialU",
    "ChebyshevPolynomialV",
    "ChebyshevPolynomialW",
)
SHIFTED = (
    "ShiftedChebyshevPolynomialT",
    "ShiftedChebyshevPolynomialU",
    "ShiftedChebyshevPolynomialV",
    "ShiftedChebyshevPolynomialW",
)
OTHERS = ("HermitePolynomialH", "HermitePolynomialHe", "LaguerrePolynomialL", "LegendrePolynomialP")
ALL = (*CHEBYSHEV, *SHIFTED, *OTHERS)


@pytest.mark.parametrize("name", ALL)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"dlop{name}")


def value(vendor: Vendor, name: str, x: Any, n: Any) -> Any:
    x, n = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(n, np.float64))
    out = out_like(vendor, x.shape, "float64")
    vendor.call(f"dlop{name}", out, vendor.tensor(x.copy()), vendor.tensor(n.copy()))
    return out.numpy()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("most", [12.9, 13, 40])
def test_single_precision_agrees_with_double(vendor: Vendor, name: str, most: float) -> None:
    """Degrees across the largest of the recurrence without branches, also negative and NaN."""
    random = np.random.default_rng(5)
    x = random.choice(np.array([-1.5, -1, -0.3, 0, 0.2, 0.9, 1, 1.2], np.float32), 600)
    n = random.uniform(-2, most, 600).astype(np.float32)
    for degrees in (n, np.trunc(n), np.where(np.arange(600) == 300, np.nan, n).astype(np.float32)):
        out = out_like(vendor, x.shape, "float32")
        vendor.call(f"dlop{name}", out, vendor.tensor(x), vendor.tensor(degrees))
        want = value(vendor, name, x, degrees)
        assert np.allclose(out.numpy(), want, rtol=2e-7, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("name", CHEBYSHEV)
def test_closed_forms_go_on_as_the_recurrence_does(vendor: Vendor, name: str) -> None:
    """p[n + 1] = 2 x p[n] - p[n - 1], across the degree from which on the closed form is used."""
    x = np.array([-1.02, -1.0, -0.99, -0.3, 0.0, 0.4, 0.99, 1.0, 1.02])
    for n in (63, 64, 65, 66, 200):
        before, at, after = (value(vendor, name, x, n + step) for step in (-1, 0, 1))
        scale = np.abs(2 * x * at) + np.abs(before) + 1
        assert (np.abs(2 * x * at - before - after) <= 1e-11 * scale).all()


@pytest.mark.parametrize("name", ALL)
def test_degrees_of_any_size_end(vendor: Vendor, name: str) -> None:
    with_size = value(vendor, name, [0.25, 0.75], [1e18, 1e300])
    assert np.isnan(with_size).all() == (name in OTHERS)


@pytest.mark.parametrize("name", ["HermitePolynomialH", "LegendrePolynomialP", *CHEBYSHEV])
def test_what_overflows_keeps_its_sign(vendor: Vendor, name: str) -> None:
    found = value(vendor, name, [1e200, -1e200, 1e200, -1e200], [5, 5, 6, 6])
    assert found.tolist() == [np.inf, -np.inf, np.inf, np.inf]

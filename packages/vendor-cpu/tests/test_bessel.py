"""Bessel functions of orders 0 and 1 and the Airy function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    "dlopBesselJ0", "dlopBesselJ1", "dlopBesselY0", "dlopBesselY1",
    "dlopBesselI0", "dlopBesselI0e", "dlopBesselI1", "dlopBesselI1e",
    "dlopBesselK0", "dlopBesselK0e", "dlopBesselK1", "dlopBesselK1e",
    "dlopSphericalBesselJ0", "dlopAiryAi",
)  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, name)


def value(vendor: Vendor, name: str, x: Any) -> Any:
    out = out_like(vendor, np.shape(x), "float64")
    vendor.call(f"dlopBessel{name}", out, vendor.tensor(x))
    return out.numpy()


def test_wronskians(vendor: Vendor) -> None:
    """DLMF 10.5.2 and 10.28.2, for arguments far beyond the arguments of the cases."""
    x = np.geomspace(1e-5, 600, 300)
    j0, j1, y0, y1 = (value(vendor, kind, x) for kind in ("J0", "J1", "Y0", "Y1"))
    assert np.allclose((j1 * y0 - j0 * y1) * np.pi * x / 2, 1, rtol=1e-13, atol=0)
    i0, i1, k0, k1 = (value(vendor, kind, x) for kind in ("I0", "I1", "K0", "K1"))
    assert np.allclose((i0 * k1 + i1 * k0) * x, 1, rtol=1e-14, atol=0)


def test_values_that_overflow_later_than_the_exponential(vendor: Vendor) -> None:
    x = np.array([709.9, 712.0, 714.0])
    i0, i1 = value(vendor, "I0", x), value(vendor, "I1", x)
    assert np.isfinite(i0[:2]).all() and np.isinf(i0[2])
    assert np.allclose(np.log(i0[:2]), x[:2] - np.log(2 * np.pi * x[:2]) / 2, rtol=1e-6)
    assert (i1[:2] < i0[:2]).all()


def test_single_precision_agrees_with_double(vendor: Vendor) -> None:
    """Across the argument from which on the power series is not used, and at special values."""
    x = np.concatenate([np.linspace(-5, 5, 1001), np.linspace(-60, 60, 501)]).astype(np.float32)
    for name in ("J0", "J1"):
        for part in (x, x[:1001], np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)):
            out = out_like(vendor, part.shape, "float32")
            vendor.call(f"dlopBessel{name}", out, vendor.tensor(part))
            want = value(vendor, name, part.astype(np.float64))
            assert np.allclose(out.numpy(), want, rtol=3e-7, atol=1e-9, equal_nan=True)

"""References of special functions match torch in float64, in every case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from diopi_proto.schema import load
from dl_conformance.case import Case
from dl_conformance.catalog import cases_of
from dl_conformance.execution import CaseInputs
from dl_conformance.reference import as_expected, compute

torch = pytest.importorskip("torch")
special = torch.special

UNARY = {
    "BesselJ0": special.bessel_j0,
    "BesselJ1": special.bessel_j1,
    "BesselY0": special.bessel_y0,
    "BesselY1": special.bessel_y1,
    "BesselI0": special.i0,
    "BesselI0e": special.i0e,
    "BesselI1": special.i1,
    "BesselI1e": special.i1e,
    "BesselK0": special.modified_bessel_k0,
    "BesselK0e": special.scaled_modified_bessel_k0,
    "BesselK1": special.modified_bessel_k1,
    "BesselK1e": special.scaled_modified_bessel_k1,
    "SphericalBesselJ0": special.spherical_bessel_j0,
    "AiryAi": special.airy_ai,
    "Lgamma": torch.lgamma,
    "Digamma": torch.digamma,
    "Entr": special.entr,
    "Erfcx": special.erfcx,
    "LogNdtr": special.log_ndtr,
    "Ndtri": special.ndtri,
}
BINARY = {
    "Zeta": special.zeta,
    "Igamma": torch.igamma,
    "Igammac": torch.igammac,
    "Xlog1py": special.xlog1py,
    "ChebyshevPolynomialT": special.chebyshev_polynomial_t,
    "ChebyshevPolynomialU": special.chebyshev_polynomial_u,
    "ChebyshevPolynomialV": special.chebyshev_polynomial_v,
    "ChebyshevPolynomialW": special.chebyshev_polynomial_w,
    "ShiftedChebyshevPolynomialT": special.shifted_chebyshev_polynomial_t,
    "ShiftedChebyshevPolynomialU": special.shifted_chebyshev_polynomial_u,
    "ShiftedChebyshevPolynomialV": special.shifted_chebyshev_polynomial_v,
    "ShiftedChebyshevPolynomialW": special.shifted_chebyshev_polynomial_w,
    "HermitePolynomialH": special.hermite_polynomial_h,
    "HermitePolynomialHe": special.hermite_polynomial_he,
    "LaguerrePolynomialL": special.laguerre_polynomial_l,
    "LegendrePolynomialP": special.legendre_polynomial_p,
}
FUNCTIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    **{k: lambda a, f=f: f(a["input"]) for k, f in UNARY.items()},
    **{k: lambda a, f=f: f(a["input"], a["n" if "n" in a else "other"]) for k, f in BINARY.items()},
    "Polygamma": lambda a: torch.polygamma(a["n"], a["input"]),
}
LIMITS = ("Bessel", "AiryAi", "Zeta", "Polygamma")
"""Functions for which torch returns NaN at infinity, or numbers at poles, instead of limits."""
ACCURACY = {
    "BesselJ": 1e-6,
    "BesselY": 1e-6,
    "AiryAi": 1e-5,
    "Igamma": 1e-10,
    "Polygamma": 1e-9,
}
"""Errors of torch relative to the magnitude, where they are large; identities are tighter."""
OTHERS = 1e-11
TINY = 1e-14
"""Absolute errors of torch at zeros of functions."""


def as_torch(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return torch.from_numpy(np.ascontiguousarray(value.astype(np.float64))).reshape(value.shape)


def runs(operator: str) -> Iterator[tuple[Case, CaseInputs]]:
    for case in cases_of(operator):
        if case.dtype == "float64" and case.layout == "contiguous" and not case.edge:
            inputs = CaseInputs(case)
            yield case, inputs


def of(name: str, *arguments: Any) -> Any:
    """Return the result of a reference in longdouble."""
    names = [p.name for p in load()[f"dlop{name}"].params[1:] if p.name != "out"]
    given = dict(zip(names, arguments, strict=True))
    return as_expected(compute(f"dlop{name}", given, {"out"})["out"]).value


def points(low: float, high: float) -> Any:
    return np.linspace(low, high, 37).astype(np.longdouble)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_reference_matches_torch(name: str) -> None:
    compared = 0
    for case, inputs in runs(f"dlop{name}"):
        got = FUNCTIONS[name]({k: as_torch(v) for k, v in inputs.wide.items()}).numpy()
        want = as_expected(inputs.expected()["out"])
        value = np.asarray(want.value, np.float64)
        magnitude = np.abs(value) if want.magnitude is None else np.asarray(want.magnitude)
        assert got.shape == value.shape
        given = [v for v in inputs.wide.values() if isinstance(v, np.ndarray)]
        if any(word in name for word in LIMITS):
            limit = np.isinf(value) | (sum(np.isinf(v).astype(int) for v in given) > 0)
            got = np.where(limit, value, got)
        # Torch returns numbers for NaN degrees, and in incomplete gamma functions.
        nan = sum(np.isnan(v).astype(int) for v in given) > 0
        got = np.where(nan, np.where(np.isnan(value), np.nan, got), got)
        same = (got == value) | (np.isnan(got) & np.isnan(value))
        accuracy = next((v for k, v in ACCURACY.items() if k in name), OTHERS)
        with np.errstate(invalid="ignore"):
            wrong = ~(same | (np.abs(got - value) <= accuracy * magnitude + TINY))
        assert not wrong.any(), f"{case.name}: {got[wrong][:3]}, want {value[wrong][:3]}"
        compared += got.size
    assert compared > 20


def test_wronskian_of_bessel_functions() -> None:
    """DLMF 10.5.2 and 10.28.2."""
    x = points(0.05, 40)
    j0, j1, y0, y1 = (of(f"Bessel{name}", x) for name in ("J0", "J1", "Y0", "Y1"))
    assert np.allclose((j1 * y0 - j0 * y1) * np.pi * x / 2, 1, rtol=1e-14, atol=0)
    i0, i1, k0, k1 = (of(f"Bessel{name}", x) for name in ("I0", "I1", "K0", "K1"))
    assert np.allclose((i0 * k1 + i1 * k0) * x, 1, rtol=1e-14, atol=0)


def test_power_series_of_the_airy_function() -> None:
    """DLMF 9.4.1."""
    x = points(-4, 2)
    even = np.full_like(x, np.longdouble("0.355028053887817239260063186004183177"))
    odd = np.longdouble("-0.258819403792806798405183560189203963") * x
    total = even + odd
    for k in range(3, 120, 3):
        even, odd = even * x**3 / (k * (k - 1)), odd * x**3 / (k * (k + 1))
        total = total + even + odd
    assert np.allclose(of("AiryAi", x), total, rtol=0, atol=1e-15)


def test_recurrences_of_gamma_functions() -> None:
    """DLMF 8.8.5, 8.2.5 and 5.15.5."""
    a, x = np.meshgrid(points(0.1, 110), points(0.1, 110))
    step = np.exp(a * np.log(x) - x - of("Lgamma", a + 1))
    lower, upper = of("Igamma", a, x), of("Igammac", a, x)
    assert np.allclose(of("Igamma", a + 1, x), lower - step, rtol=1e-12, atol=1e-15)
    assert np.allclose(lower + upper, 1, rtol=1e-15, atol=0)
    for n, factor in ((1, -1), (2, 2), (3, -6)):
        moved = of("Polygamma", n, a[0] + 1) - of("Polygamma", n, a[0])
        assert np.allclose(moved, factor / a[0] ** (n + 1), rtol=1e-13, atol=1e-13)


def test_degrees_have_closed_forms() -> None:
    """cos(n θ) and sin((n + 1) θ) / sin θ, DLMF 18.5."""
    for name, function in {
        "T": lambda n, angle: np.cos(n * angle),
        "U": lambda n, angle: np.sin((n + 1) * angle) / np.sin(angle),
    }.items():
        for _, inputs in runs(f"dlopChebyshevPolynomial{name}"):
            x, n = np.broadcast_arrays(inputs.wide["input"], inputs.wide["n"])
            inside = (np.abs(x) < 1) & (n >= 0)
            value = np.asarray(as_expected(inputs.expected()["out"]).value)[inside]
            wanted = function(np.trunc(n[inside]), np.arccos(x[inside]))
            assert np.allclose(value, wanted, rtol=1e-12, atol=1e-12)

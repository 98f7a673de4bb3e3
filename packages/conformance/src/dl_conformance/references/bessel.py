"""Bessel functions of orders 0 and 1 and the Airy function, from integral representations.

NIST Digital Library of Mathematical Functions: 10.9.2 (J), 10.8.1 as Neumann's series (Y), 10.32.3
(I), 10.32.9 (K), 9.5.4 (Ai). Sums of equidistant values converge to such integrals exponentially
(Trefethen and Weideman, The exponentially convergent trapezoidal rule, 2014).

The magnitude of each value is its condition, ``|f| + |x f'|``: the effect of a rounding of the
input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dl_conformance.elementwise import as_float
from dl_conformance.reference import Array, Expected, reference

PI = np.longdouble("3.14159265358979323846264338327950288420")
EULER = np.longdouble("0.577215664901532860606512090082402431042")
NODES = 224
ORDERS = 56
"""Number of quadrature points of a period, and of terms of Neumann's series; sufficient for
arguments up to 45, or up to 150 without the series."""
SMALL = 1e-3
"""Arguments below use the first terms of power series, because integrals are inaccurate there."""
STEP = np.longdouble(1) / 32
EXPONENT = 48
"""Exponent beyond which integrands, below exp(-48), are neglected."""


def first_kind(orders: Array, x: Array) -> Array:
    """Return J, with the orders as the first dimension."""
    angles = 2 * PI * np.arange(NODES, dtype=np.longdouble) / NODES
    waves, phases = orders.reshape(-1, 1) * angles, np.outer(np.sin(angles), x)
    values = (np.cos(waves) @ np.cos(phases) + np.sin(waves) @ np.sin(phases)) / NODES
    values[orders == 1] = near_zero(x, -1, values[orders == 1])
    return np.asarray(values)


def near_zero(x: Array, sign: int, otherwise: Array) -> Array:
    """Return J1, or I1 for sign 1, of small numbers (10.2.2 and 10.25.2)."""
    square = sign * x * x / 4
    return np.where(np.abs(x) < SMALL, x / 2 * (1 + square / 2 * (1 + square / 6)), otherwise)


def second_kind(x: Array) -> tuple[Array, Array]:
    """Return Y0 and its derivative, -Y1."""
    j = first_kind(np.arange(2 * ORDERS + 2), x)
    k = np.arange(1, ORDERS + 1)
    weights = np.where(k % 2 == 1, -1, 1) / k.astype(np.longdouble)
    slopes = (j[2 * k - 1] - j[2 * k + 1]) / 2
    log = np.log(x / 2) + EULER
    y0 = 2 * log * j[0] - 4 * (weights @ j[2 * k])
    slope = 2 * (j[0] / x - log * j[1]) - 4 * (weights @ slopes)
    return y0 / PI, slope / PI


def scaled_modified(x: Array) -> tuple[Array, Array]:
    """Return exp(-|x|) I0 and exp(-|x|) I1."""
    angles = 2 * PI * np.arange(NODES, dtype=np.longdouble) / NODES
    size = np.abs(x).reshape(-1, 1)
    decay = np.exp(size * (np.cos(angles) - 1))
    i1 = np.sign(x) * (decay * np.cos(angles)).mean(axis=-1)
    return decay.mean(axis=-1), near_zero(x, 1, i1 * np.exp(np.abs(x))) * np.exp(-np.abs(x))


def scaled_second_modified(x: Array) -> tuple[Array, Array]:
    """Return exp(x) K0 and exp(x) K1 of positive numbers."""
    end = np.arccosh(1 + EXPONENT / x.min(initial=1))
    t = STEP * np.arange(int(end / STEP) + 2, dtype=np.longdouble)
    decay = np.exp(-x.reshape(-1, 1) * (np.cosh(t) - 1))
    decay[:, 0] /= 2
    return decay.sum(axis=-1) * STEP, (decay * np.cosh(t)).sum(axis=-1) * STEP


def airy(x: Array) -> tuple[Array, Array]:
    """Return Ai and its derivative, integrated along a line through or near the saddle point."""
    size = np.abs(x).reshape(-1, 1)
    height = np.where(x.reshape(-1, 1) > 1, np.sqrt(size), 1 / np.sqrt(np.maximum(size, 1)))
    end = np.sqrt(EXPONENT / height.min(initial=1))
    at = STEP / 2 * np.arange(int(2 * end / STEP) + 1, dtype=np.longdouble) + 1j * height
    values = np.exp(1j * (at * at / 3 + x.reshape(-1, 1)) * at)
    # Values to the left are the complex conjugates.
    values[:, 0] /= 2
    scale = STEP / 2 / PI
    return values.real.sum(axis=-1) * scale, (1j * at * values).real.sum(axis=-1) * scale


def inside(
    x: Array, good: Array, function: Callable[[Array], tuple[Array, Array]], elsewhere: Array
) -> Expected:
    """Return the function with its magnitude where it is defined, and a given value elsewhere."""
    at = x[good]
    value, slope = function(at)
    found, magnitude = np.array(elsewhere), np.array(np.abs(elsewhere))
    found[good] = value
    magnitude[good] = np.abs(value) + np.abs(at * slope)
    return Expected(found, magnitude=np.where(np.isfinite(magnitude), magnitude, 0))


def everywhere(
    name: str, function: Callable[[Array], tuple[Array, Array]], limit: Callable[[Array], Array]
) -> None:
    """Register a function of all numbers; it has its limit at infinity."""

    @reference(f"dlop{name}")
    def computed(*, input: Array) -> dict[str, Any]:
        x = as_float(input)
        return {"out": inside(x, np.isfinite(x), function, np.where(np.isnan(x), x, limit(x)))}


def of_positive(
    name: str, function: Callable[[Array], tuple[Array, Array]], at_zero: float, limit: float
) -> None:
    """Register a function of positive numbers."""

    @reference(f"dlop{name}")
    def computed(*, input: Array) -> dict[str, Any]:
        x = as_float(input)
        elsewhere = np.where(x == 0, at_zero, np.where(x == np.inf, limit, np.nan))
        good = (x > 0) & np.isfinite(x)
        return {"out": inside(x, good, function, elsewhere.astype(np.longdouble))}


def zeros(x: Array) -> Array:
    return np.zeros_like(x)


def j0(x: Array) -> tuple[Array, Array]:
    j = first_kind(np.arange(2), x)
    return j[0], -j[1]


def j1(x: Array) -> tuple[Array, Array]:
    j = first_kind(np.arange(3), x)
    return j[1], (j[0] - j[2]) / 2


def y1(x: Array) -> tuple[Array, Array]:
    y0, slope = second_kind(x)
    return -slope, y0 + slope / x


def i0e(x: Array) -> tuple[Array, Array]:
    i0, i1 = scaled_modified(x)
    return i0, i1 - np.sign(x) * i0


def i1e(x: Array) -> tuple[Array, Array]:
    i0, i1 = scaled_modified(x)
    return i1, i0 - i1 / np.where(x == 0, 1, x) - np.sign(x) * i1


def grown(pair: Callable[[Array], tuple[Array, Array]]) -> Callable[[Array], tuple[Array, Array]]:
    """Return f and its derivative from those of exp(-|x|) f."""

    def computed(x: Array) -> tuple[Array, Array]:
        value, slope = pair(x)
        growth = np.exp(np.abs(x))
        return growth * value, growth * (slope + np.sign(x) * value)

    return computed


def k0e(x: Array) -> tuple[Array, Array]:
    k0, k1 = scaled_second_modified(x)
    return k0, k0 - k1


def k1e(x: Array) -> tuple[Array, Array]:
    k0, k1 = scaled_second_modified(x)
    return k1, k1 - k0 - k1 / x


def decayed(pair: Callable[[Array], tuple[Array, Array]]) -> Callable[[Array], tuple[Array, Array]]:
    """Return f and its derivative from those of exp(x) f."""

    def computed(x: Array) -> tuple[Array, Array]:
        value, slope = pair(x)
        decay = np.exp(-x)
        return decay * value, decay * (slope - value)

    return computed


def spherical_j0(x: Array) -> tuple[Array, Array]:
    at = np.where(x == 0, 1, x)
    return (
        np.where(x == 0, 1, np.sin(at) / at),
        np.where(x == 0, 0, (np.cos(at) - np.sin(at) / at) / at),
    )


everywhere("BesselJ0", j0, zeros)
everywhere("BesselJ1", j1, zeros)
of_positive("BesselY0", second_kind, -np.inf, 0)
of_positive("BesselY1", y1, -np.inf, 0)
everywhere("BesselI0", grown(i0e), np.abs)
everywhere("BesselI0e", i0e, zeros)
everywhere("BesselI1", grown(i1e), np.copy)
everywhere("BesselI1e", i1e, zeros)
of_positive("BesselK0", decayed(k0e), np.inf, 0)
of_positive("BesselK0e", k0e, np.inf, 0)
of_positive("BesselK1", decayed(k1e), np.inf, 0)
of_positive("BesselK1e", k1e, np.inf, 0)
everywhere("SphericalBesselJ0", spherical_j0, zeros)
everywhere("AiryAi", airy, zeros)

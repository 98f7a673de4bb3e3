"""The error function, functions of the normal distribution, and entropies.

NIST Digital Library of Mathematical Functions, 7.6.2 (series) and 7.9.1 (continued fraction). The
magnitude of a value is its condition, ``|f| + |x f'|``: the effect of a rounding of the input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_float, erf, erfc, unary
from dl_conformance.reference import Array, Expected, reference

PI = np.longdouble("3.14159265358979323846264338327950288420")
ROOT_PI = np.sqrt(PI)
HALF_ROOT_PI = ROOT_PI / 2
ROOT_HALF = np.sqrt(np.longdouble(0.5))
STEPS = 60
QUADRATIC_STEPS = 10
TERMS = 120


def erfinv(x: Array) -> Array:
    """Return the inverse by Newton's method; the tails use the accurate complement."""
    size = np.abs(x)
    inside = np.where(size < 1, size, 0)
    y = np.zeros_like(inside)
    for _ in range(STEPS):
        # Newton steps from 0 stay below the root, because the function is concave there.
        off = np.where(inside < 0.5, erf(y) - inside, (1 - inside) - erfc(y))
        y = y - HALF_ROOT_PI * off * np.exp(y * y)
    # The series, where the error function in float64 is not accurate enough.
    small = HALF_ROOT_PI * inside * (1 + HALF_ROOT_PI**2 * inside**2 / 3)
    value = np.sign(x) * np.where(inside < 1e-5, small, y)
    return np.asarray(np.where(size < 1, value, np.where(size == 1, x * np.inf, np.nan)))


def scaled(x: Array) -> Array:
    """Return exp(x^2) erfc(x) of positive numbers."""
    near = np.where(x < 2, x, 0)
    term = near
    total = near
    for n in range(1, TERMS):
        term = term * 2 * near * near / (2 * n + 1)
        total = total + term
    far = np.where(x < 2, 2, x)
    tail = np.zeros_like(far)
    for n in range(TERMS, 0, -1):
        tail = np.longdouble(n) / 2 / (far + tail)
    series = np.exp(near * near) - 2 / ROOT_PI * total
    return np.asarray(np.where(x < 2, series, 1 / (ROOT_PI * (far + tail))))


def erfcx(x: Array) -> Array:
    value = scaled(np.abs(x))
    return np.asarray(np.where(x < 0, 2 * np.exp(x * x) - value, value))


def log_ndtr(x: Array) -> Array:
    """Return log Φ(x); the left tail adds the logarithm of its exponential factor."""
    decay = scaled(np.abs(x) * ROOT_HALF)
    left = np.log(decay / 2) - x * x / 2
    return np.asarray(np.where(x < 0, left, np.log1p(-decay * np.exp(-x * x / 2) / 2)))


def hazard(x: Array) -> Array:
    """Return the derivative of log_ndtr."""
    return np.asarray(np.sqrt(2 / PI) / erfcx(-x * ROOT_HALF))


def ndtri(p: Array) -> Array:
    """Solve log_ndtr by Newton's method from the left of the root; the function is concave."""
    tail = np.minimum(p, 1 - p)
    z = -np.sqrt(-2 * np.log(tail)) - np.longdouble(0.5)
    for _ in range(QUADRATIC_STEPS):
        z = z - (log_ndtr(z) - np.log(tail)) / hazard(z)
    return np.asarray(np.where(p < 0.5, z, -z))


unary({"Erf": lambda x: erf(as_float(x)), "Erfinv": lambda x: erfinv(as_float(x))})


def conditioned(value: Array, slope_by_input: Array) -> dict[str, Any]:
    """Return the condition; infinite inputs are exact."""
    magnitude = np.abs(value) + np.abs(slope_by_input)
    return {"out": Expected(value, magnitude=np.where(np.isfinite(magnitude), magnitude, 0))}


@reference("dlopErfcx")
def of_erfcx(*, input: Array) -> dict[str, Any]:
    x = as_float(input)
    value = np.where(np.isnan(x), x, np.where(x == np.inf, 0, erfcx(x)))
    return conditioned(value, x * (2 * x * value - 2 / ROOT_PI))


@reference("dlopLogNdtr")
def of_log_ndtr(*, input: Array) -> dict[str, Any]:
    x = as_float(input)
    value = np.where(np.isnan(x), x, np.where(x == np.inf, 0, log_ndtr(x)))
    return conditioned(value, x * hazard(x))


@reference("dlopNdtri")
def of_ndtri(*, input: Array) -> dict[str, Any]:
    p = as_float(input)
    inside = (p > 0) & (p < 1)
    z = ndtri(np.where(inside, p, 0.5))
    ends = np.where(p == 0, -np.inf, np.where(p == 1, np.inf, np.nan))
    return conditioned(np.where(inside, z, ends), p * np.sqrt(2 * PI) * np.exp(z * z / 2))


@reference("dlopEntr")
def entr(*, input: Array) -> dict[str, Any]:
    x = as_float(input)
    value = -x * np.log(np.where(x > 0, x, 1))
    return {"out": np.where(x > 0, value, np.where(x < 0, -np.inf, np.where(x == 0, 0, x)))}


@reference("dlopXlog1py")
def xlog1py(*, input: Array, other: Array) -> dict[str, Any]:
    value = input * np.log1p(other)
    return {"out": np.where((input == 0) & ~np.isnan(other), 0, value)}

"""Log-gamma and its derivatives, the zeta function and incomplete gamma functions.

NIST Digital Library of Mathematical Functions: 5.11.2 and 5.5.4 (digamma), 25.11.1 and 25.2.9
(zeta, by Euler-Maclaurin summation), 8.11.4, 8.9.2 and 8.7.3 (incomplete gamma functions).

The magnitude of each value is its condition, ``|f| + |x f'|``: the effect of a rounding of the
inputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_float, lgamma, unary
from dl_conformance.reference import Array, Expected, reference

PI = np.longdouble("3.14159265358979323846264338327950288420")
LARGE = 40
"""Above this argument the asymptotic series has the accuracy of a long double."""
BERNOULLI = ("1/6", "-1/30", "1/42", "-1/30", "5/66", "-691/2730", "7/6", "-3617/510", "43867/798")
"""Bernoulli numbers of orders 2, 4, …"""
TERMS = 400
STEP = np.longdouble(2) ** -24
"""Step of numerical derivatives, relative to the argument."""


def bernoulli(order: int) -> np.longdouble:
    numerator, denominator = BERNOULLI[order // 2 - 1].split("/")
    return np.longdouble(numerator) / np.longdouble(denominator)


def zeta_of_positive(s: Array, q: Array) -> Array:
    """Return the Hurwitz zeta function for s > 1 and q > 0 (25.11.1)."""
    total, at = np.zeros(np.broadcast(s, q).shape, np.longdouble), q + np.zeros_like(s)
    for _ in range(LARGE):
        low = at < LARGE
        total = total + np.where(low, at**-s, 0)
        at = np.where(low, at + 1, at)
    total = total + at ** (1 - s) / (s - 1) + at**-s / 2
    factor = s * at ** (-s - 1) / 2
    for order in range(2, 2 * len(BERNOULLI) + 1, 2):
        total = total + bernoulli(order) * factor
        factor = factor * (s + order - 1) * (s + order) / ((order + 1) * (order + 2) * at * at)
    return np.asarray(total)


def hurwitz(s: Array, q: Array) -> Array:
    """Return the Hurwitz zeta function for s > 1; negative q are shifted above 0."""
    total, at = np.zeros(np.broadcast(s, q).shape, np.longdouble), q + np.zeros_like(s)
    while (at < 0).any():
        total = total + np.where(at < 0, np.where(at < 0, at, 1) ** -s, 0)
        at = np.where(at < 0, at + 1, at)
    return total + zeta_of_positive(s, np.where(at > 0, at, 1))


def digamma(x: Array) -> Array:
    """Return the digamma function of numbers that are not poles."""
    at = np.where(x < 0, 1 - x, x)
    moved = np.zeros_like(at)
    for _ in range(LARGE):
        low = at < LARGE
        moved = moved + np.where(low, 1 / at, 0)
        at = np.where(low, at + 1, at)
    series = sum(bernoulli(k) / (k * at**k) for k in range(2, 2 * len(BERNOULLI) + 1, 2))
    value = np.log(at) - 1 / (2 * at) - series - moved
    fraction = x - np.floor(x)
    return np.asarray(np.where(x < 0, value - PI / np.tan(PI * fraction), value))


def derivative(n: int, x: Array) -> Array:
    """Return the derivative of order n of digamma at numbers that are not poles."""
    if n == 0:
        return digamma(x)
    factorial = np.prod(np.arange(1, n + 1, dtype=np.longdouble))
    return np.asarray((-1) ** (n + 1) * factorial * hurwitz(np.full_like(x, n + 1), x))


def derivatives(n: int, x: Array) -> Expected:
    pole = (x <= 0) & (x == np.floor(x))
    good = np.isfinite(x) & ~pole
    at = np.where(good, x, 1)
    value, slope = derivative(n, at), derivative(n + 1, at)
    if n == 0:
        ends = np.where(x == 0, np.copysign(np.inf, -x), np.where(x == np.inf, np.inf, np.nan))
    else:
        infinity = np.inf if n % 2 else -np.inf
        ends = np.where(pole & np.isfinite(x), infinity, np.where(x == np.inf, 0, np.nan))
    return Expected(np.where(good, value, ends), magnitude=np.abs(value) + np.abs(at * slope))


unary({"dlopLgamma": lambda x: lgamma(as_float(x))})


@reference("dlopDigamma")
def of_digamma(*, input: Array) -> dict[str, Any]:
    return {"out": derivatives(0, as_float(input))}


@reference("dlopPolygamma")
def polygamma(*, n: int, input: Array) -> dict[str, Any]:
    return {"out": derivatives(n, as_float(input))}


@reference("dlopZeta")
def zeta(*, input: Array, other: Array) -> dict[str, Any]:
    s, q = np.broadcast_arrays(input, other)
    pole = (q <= 0) & (q == np.floor(q))
    real = (q > 0) | (s == np.floor(s))
    good = (s > 1) & np.isfinite(s) & np.isfinite(q) & ~pole & real
    at, of = np.where(good, s, 2), np.where(good, q, 1)
    value = hurwitz(at, of)
    # Integer powers of negative numbers are bounded by those of the absolute values.
    size = zeta_of_positive(at, np.abs(of))
    by_s = (zeta_of_positive(at * (1 + STEP), np.abs(of)) - size) / STEP
    by_q = of * at * hurwitz(at + 1, of)
    ends = np.where(s == 1, np.inf, np.where(pole & (s > 1), np.inf, np.nan))
    limit = np.where((s > 1) & np.isfinite(s) & (q == np.inf), 0, ends)
    wanted = np.where(np.isnan(s) | np.isnan(q), np.nan, np.where(good, value, limit))
    return {"out": Expected(wanted, magnitude=np.abs(value) + np.abs(by_s) + np.abs(by_q))}


def density(a: Array, x: Array) -> Array:
    """Return x^a exp(-x) / Γ(a), which is x times the derivative of P."""
    return np.asarray(np.exp(a * np.log(x) - x - lgamma(a)))


def lower(a: Array, x: Array) -> Array:
    """Return P by its series, which has only positive terms (8.11.4)."""
    term = 1 / a
    total = term
    for n in range(1, TERMS):
        term = term * x / (a + n)
        total = total + term
    return density(a, x) * total


def upper(a: Array, x: Array) -> Array:
    """Return Q by the continued fraction for large x (8.9.2), else as 1 - P."""
    far = x > a + 1
    b = np.where(far, x, a + 2)
    tail = np.zeros_like(b)
    for n in range(TERMS, 0, -1):
        tail = n * (n - a) / (b + 2 * n + 1 - a - tail)
    fraction = density(a, b) / (b + 1 - a - tail)
    return np.where(far, fraction, 1 - lower(a, np.where(far, a, x)))


def incomplete(a: Array, x: Array, *, of_upper: bool) -> Expected:
    a, x = np.broadcast_arrays(a, x)
    good = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    at, of = np.where(good, a, 1), np.where(good, x, 1)
    function = upper if of_upper else lower
    value = function(at, of)
    by_a = np.abs(function(at * (1 + STEP), of) - value) / STEP
    none = np.isnan(a) | np.isnan(x) | (a < 0) | (x < 0)
    none |= (a == 0) & (x == 0) | np.isinf(a) & np.isinf(x)
    low = np.where(np.isinf(a) | (x == 0), 0, 1)
    ends = np.where(none, np.nan, 1 - low if of_upper else low)
    return Expected(np.where(good, value, ends), magnitude=np.abs(value) + density(at, of) + by_a)


@reference("dlopIgamma")
def igamma(*, input: Array, other: Array) -> dict[str, Any]:
    return {"out": incomplete(input, other, of_upper=False)}


@reference("dlopIgammac")
def igammac(*, input: Array, other: Array) -> dict[str, Any]:
    return {"out": incomplete(input, other, of_upper=True)}

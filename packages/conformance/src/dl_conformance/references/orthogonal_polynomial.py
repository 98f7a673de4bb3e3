"""Orthogonal polynomials by their recurrences (NIST Digital Library of Mathematical Functions,
18.9.1, table 18.9.1 and 18.9.2).

The magnitude is from a running error analysis (Higham, Accuracy and Stability of Numerical
Algorithms, 2002, section 3.3): each step adds the roundings of two terms, which later steps
propagate like the polynomials themselves. The effect of a rounding of the input is added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

LARGEST = 24
"""Maximum degree of cases."""


@dataclass(frozen=True)
class Recurrence:
    """Recurrence p[k + 1] = (a(k) x + b(k)) p[k] - c(k) p[k - 1], from p[1] = a x + b."""

    first: tuple[float, float]
    a: Callable[[int], Any]
    c: Callable[[int], Any]
    b: Callable[[int], Any] = lambda k: 0.0

    def factor(self, k: int, x: Array) -> Array:
        if k == 0:
            return self.first[0] * x + self.first[1]
        return np.longdouble(self.a(k)) * x + np.longdouble(self.b(k))

    def slope(self, k: int) -> np.longdouble:
        return np.longdouble(self.first[0] if k == 0 else self.a(k))

    def behind(self, k: int) -> np.longdouble:
        return np.longdouble(0 if k == 0 else self.c(k))


def polynomials(of: Recurrence, x: Array, start: int = 0) -> list[Array]:
    """Return the solutions of the recurrence that start with 1 at a degree, for all degrees."""
    values = [np.zeros_like(x)] * start + [np.ones_like(x)]
    for k in range(start, LARGEST):
        before = values[k - 1] if k else np.zeros_like(x)
        values.append(of.factor(k, x) * values[k] - of.behind(k) * before)
    return values


def magnitudes(of: Recurrence, x: Array, p: list[Array]) -> list[Array]:
    """Return the polynomials of all degrees."""
    terms = [
        (abs(of.slope(k) * x) + abs(of.factor(k, x) - of.slope(k) * x)) * abs(p[k])
        + abs(of.behind(k) * (p[k - 1] if k else 0))
        for k in range(LARGEST)
    ]
    found = [np.abs(value) for value in p]
    for k in range(LARGEST):
        carried = polynomials(of, x, k + 1)
        for n in range(k + 1, LARGEST + 1):
            found[n] = found[n] + np.abs(carried[n]) * terms[k]
    return found


def evaluate(of: Recurrence, x: Array, degree: Array) -> Expected:
    x, degree = np.broadcast_arrays(x, degree)
    n = np.trunc(degree)
    good = np.isfinite(x) & (n >= 0) & (n <= LARGEST)
    at = np.where(good, x, 0)
    p = polynomials(of, at)
    of_each = magnitudes(of, at, p)
    index = np.where(good, n, 0).astype(np.int64)[None]
    value = np.take_along_axis(np.stack(p), index, 0)[0]
    magnitude = np.take_along_axis(np.stack(of_each), index, 0)[0]
    ends = np.where(n == 0, 1, np.where(n < 0, 0, np.nan))
    return Expected(np.where(good, value, ends), magnitude=magnitude)


def declare(name: str, of: Recurrence, shifted: bool = False) -> None:
    """Register a family; ``shifted`` evaluates Chebyshev polynomials at 2 x - 1."""
    if shifted:
        a, b = of.first
        of = Recurrence((2 * a, b - a), lambda k: 4.0, of.c, lambda k: -2.0)

    @reference(f"dlop{name}")
    def computed(*, input: Array, n: Array) -> dict[str, Any]:
        return {"out": evaluate(of, input, n)}


CHEBYSHEV = {"T": (1.0, 0.0), "U": (2.0, 0.0), "V": (2.0, -1.0), "W": (2.0, 1.0)}
for letter, first in CHEBYSHEV.items():
    kind = Recurrence(first, lambda k: 2.0, lambda k: 1.0)
    declare(f"ChebyshevPolynomial{letter}", kind)
    declare(f"ShiftedChebyshevPolynomial{letter}", kind, shifted=True)
declare("HermitePolynomialH", Recurrence((2.0, 0.0), lambda k: 2.0, lambda k: 2.0 * k))
declare("HermitePolynomialHe", Recurrence((1.0, 0.0), lambda k: 1.0, lambda k: float(k)))
declare(
    "LaguerrePolynomialL",
    Recurrence(
        (-1.0, 1.0),
        lambda k: -1 / np.longdouble(k + 1),
        lambda k: k / np.longdouble(k + 1),
        lambda k: (2 * k + 1) / np.longdouble(k + 1),
    ),
)
declare(
    "LegendrePolynomialP",
    Recurrence(
        (1.0, 0.0),
        lambda k: (2 * k + 1) / np.longdouble(k + 1),
        lambda k: k / np.longdouble(k + 1),
    ),
)

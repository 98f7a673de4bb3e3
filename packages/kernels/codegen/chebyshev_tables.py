"""Write the Chebyshev series of special functions, computed with mpmath at 50 digits.

    python packages/kernels/codegen/chebyshev_tables.py [--check]

Each function is divided by its asymptotic behavior at the ends of its interval, so that a short
series remains; `math/chebyshev.h` sums it. The interval is mapped to [-1, 1], where the series is
the interpolation at Chebyshev nodes (Trefethen, Approximation Theory and Approximation Practice,
2013, chapter 3), truncated where its terms are below a sixteenth of float64's unit roundoff. For
results that are rounded to float32, fewer terms are summed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpmath import mp, mpf

HEADER = Path(__file__).parents[1] / "include" / "dl_kernels" / "math" / "chebyshev_tables.gen.h"
DIGITS = 50
NODES = 96
"""Number of interpolation nodes, many more than any series has terms."""
SMALLEST = mpf(2) ** -57
SMALLEST_FOR_FLOAT = mpf(2) ** -33
GUARD = "DL_KERNELS_MATH_CHEBYSHEV_TABLES_GEN_H_"


@dataclass(frozen=True)
class Series:
    """A function on [-1, 1]."""

    name: str
    what: str
    function: Callable[[Any], Any]


def small(end: int, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Function of x on [0, end], t = 2 x / end - 1."""
    return lambda t: function(end * (1 + t) / 2)


def small_square(end: int, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Function of x * x on [0, end], t = 2 (x / end)^2 - 1."""
    return lambda t: function(end * mp.sqrt((1 + t) / 2))


def large(start: Any, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Function of 1 / x on [start, infinity), t = 2 start / x - 1."""
    return lambda t: function(2 * start / (1 + t))


def large_square(start: Any, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Function of 1 / (x * x) on [start, infinity), t = 2 (start / x)^2 - 1."""
    return lambda t: function(start * mp.sqrt(2 / (1 + t)))


def k0_rest(x: Any) -> Any:
    return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)


def k1_rest(x: Any) -> Any:
    return x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x))


def scaled_erfc(t: Any) -> Any:
    x = mpf("3.75") * (1 + t) / (1 - t)
    # At large x, where erfc is below the smallest number: its asymptotic series.
    if x < 1000:
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)
    inverse = 1 / (2 * x * x)
    total, term = mpf(1), mpf(1)
    for k in range(1, 12):
        term *= -(2 * k - 1) * inverse
        total += term
    return (1 + 2 * x) * total / (x * mp.sqrt(mp.pi))


def airy_argument(zeta: Any) -> Any:
    return (3 * zeta / 2) ** (mpf(2) / 3)


def airy_positive(zeta: Any) -> Any:
    x = airy_argument(zeta)
    return 2 * mp.sqrt(mp.pi) * x ** mpf("0.25") * mp.exp(zeta) * mp.airyai(x)


def airy_parts(zeta: Any) -> tuple[Any, Any]:
    """Ai(-x) = (P cos(zeta - pi/4) + Q / zeta sin(zeta - pi/4)) / (sqrt(pi) x^(1/4))."""
    x = airy_argument(zeta)
    scale = mp.sqrt(mp.pi) * x ** mpf("0.25")
    ai, bi = scale * mp.airyai(-x), scale * mp.airybi(-x)
    c, s = mp.cos(zeta - mp.pi / 4), mp.sin(zeta - mp.pi / 4)
    return ai * c - bi * s, zeta * (ai * s + bi * c)


def i0e_large(x: Any) -> Any:
    return mp.sqrt(x) * mp.exp(-x) * mp.besseli(0, x)


def i1e_large(x: Any) -> Any:
    return mp.sqrt(x) * mp.exp(-x) * mp.besseli(1, x)


AIRY_FROM_1 = mpf(2) / 3
AIRY_FROM_2 = 4 * mp.sqrt(2) / 3

SERIES = (
    Series(
        "i0e_small",
        "sqrt(2 + x) exp(-x) I0(x) on [0, 8]",
        small(8, lambda x: mp.sqrt(2 + x) * mp.exp(-x) * mp.besseli(0, x)),
    ),
    Series("i0e_large", "sqrt(x) exp(-x) I0(x) from 8 on", large(8, i0e_large)),
    Series(
        "i1e_small",
        "(2 + x)^(3/2) exp(-x) I1(x) / x on [0, 8]",
        small(8, lambda x: mp.sqrt(2 + x) ** 3 * mp.exp(-x) * mp.besseli(1, x) / x),
    ),
    Series("i1e_large", "sqrt(x) exp(-x) I1(x) from 8 on", large(8, i1e_large)),
    Series("k0_rest", "K0(x) + log(x / 2) I0(x), by x^2 on [0, 2]", small_square(2, k0_rest)),
    Series(
        "k0e_large",
        "sqrt(x) exp(x) K0(x) from 2 on",
        large(2, lambda x: mp.sqrt(x) * mp.exp(x) * mp.besselk(0, x)),
    ),
    Series("k1_rest", "x (K1(x) - log(x / 2) I1(x)), by x^2 on [0, 2]", small_square(2, k1_rest)),
    Series(
        "k1e_large",
        "sqrt(x) exp(x) K1(x) from 2 on",
        large(2, lambda x: mp.sqrt(x) * mp.exp(x) * mp.besselk(1, x)),
    ),
    Series("erfcx", "(1 + 2 x) exp(x^2) erfc(x), by (x - 3.75) / (x + 3.75)", scaled_erfc),
    Series(
        "airy_positive",
        "2 sqrt(pi) x^(1/4) exp(zeta) Ai(x), zeta = 2/3 x^(3/2), by zeta from 2/3 on",
        large(AIRY_FROM_1, airy_positive),
    ),
    Series(
        "airy_cosine",
        "P of Ai(-x), by 1 / zeta^2 from x = 2 on",
        large_square(AIRY_FROM_2, lambda zeta: airy_parts(zeta)[0]),
    ),
    Series(
        "airy_sine",
        "Q of Ai(-x), by 1 / zeta^2 from x = 2 on",
        large_square(AIRY_FROM_2, lambda zeta: airy_parts(zeta)[1]),
    ),
)


def coefficients(function: Callable[[Any], Any]) -> list[Any]:
    """Return the Chebyshev coefficients of a function, without the negligible last ones."""
    angles = [mp.pi * (2 * j + 1) / (2 * NODES) for j in range(NODES)]
    values = [function(mp.cos(angle)) for angle in angles]
    found = [
        2 * mp.fsum(v * mp.cos(k * a) for v, a in zip(values, angles, strict=True)) / NODES
        for k in range(NODES)
    ]
    found[0] /= 2
    largest = max(map(abs, found))
    last = max(k for k, c in enumerate(found) if abs(c) > SMALLEST * largest)
    assert last < NODES - 16, "the function needs more nodes"
    return found[: last + 1]


def terms_for_float(found: list[Any]) -> int:
    """Return the number of terms of a series for a result that is rounded to float32."""
    largest = max(map(abs, found))
    return 1 + max(k for k, c in enumerate(found) if abs(c) > SMALLEST_FOR_FLOAT * largest)


def text() -> str:
    with mp.workdps(DIGITS):
        tables = [(series, coefficients(series.function)) for series in SERIES]
    lines = [
        "// Generated by codegen/chebyshev_tables.py; do not edit.",
        "// Chebyshev series; their functions are defined there. Sums for float are to be rounded.",
        f"#ifndef {GUARD}",
        f"#define {GUARD}",
        "",
        '#include "dl_kernels/math/chebyshev.h"',
        "",
        "DL_KERNELS_BEGIN",
        "",
        "namespace math {",
        "",
    ]
    for series, found in tables:
        count = f"for_float ? {terms_for_float(found)} : {len(found)}"
        lines += [
            f"// {series.what}.",
            "template <bool for_float = false>",
            f"DL_FN double {series.name}_series(double t) {{",
            "  constexpr double kTerms[] = {",
            *(f"      {float(c)!r}," for c in found),
            "  };",
            f"  return chebyshev_sum<{count}>(kTerms, t);",
            "}",
            "",
        ]
    lines += ["}  // namespace math", "", "DL_KERNELS_END", "", f"#endif  // {GUARD}"]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare; exit code 1 if stale")
    arguments = parser.parse_args()
    fresh = text()
    if not arguments.check:
        HEADER.write_text(fresh, encoding="utf-8")
        return 0
    if HEADER.is_file() and HEADER.read_text(encoding="utf-8") == fresh:
        return 0
    sys.stderr.write(f"{HEADER} is stale; run {Path(__file__).name}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

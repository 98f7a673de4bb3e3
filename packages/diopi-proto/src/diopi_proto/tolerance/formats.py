"""Number formats: range, precision and spacing of a dtype."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Format:
    """Binary floating-point format, a pair of such (complex), or an exact format (integers, bool).

    ``precision`` counts the bits of the significand with the hidden one; exponents are those of
    IEEE 754 (``2 ** min_exponent`` is the smallest normal number). Exact formats have precision 0.
    ``carriers`` are the numpy dtypes that may hold such values.
    """

    name: str
    precision: int
    min_exponent: int
    max_exponent: int
    is_complex: bool = False
    carriers: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        return self.precision == 0

    @property
    def unit_roundoff(self) -> float:
        """Return the largest relative error of rounding to nearest in the normal range; 0
        if exact.
        """
        return 0.0 if self.is_exact else float(np.ldexp(1.0, -self.precision))

    @property
    def smallest_subnormal(self) -> float:
        """Return the distance between adjacent numbers around zero.

        It is 0.0 for a ``longdouble`` reference, since the exact value underflows a float.
        """
        return float(np.ldexp(1.0, self.min_exponent - self.precision + 1))

    @property
    def smallest_normal(self) -> float:
        return float(np.ldexp(1.0, self.min_exponent))

    def overflow_threshold(self, working: np.dtype[Any]) -> Any:
        """Return the smallest magnitude that rounds to infinity, in the dtype ``working``.

        It is ``largest + half its spacing``; infinity where ``working`` cannot represent that.
        """
        one = working.type(1)
        with np.errstate(over="ignore"):
            return np.ldexp(one * 2 - np.ldexp(one, -self.precision), self.max_exponent)

    def spacing(self, magnitude: Array) -> Array:
        """Return the distance between adjacent numbers (one ulp) at finite ``magnitude`` >= 0.

        Within the last ulp below a power of two it is the larger spacing above that power, because
        a number there may round up to it.
        """
        fraction, exponent = np.frexp(magnitude)
        top = fraction >= magnitude.dtype.type(1) - magnitude.dtype.type(self.unit_roundoff)
        return self._spacing_of(magnitude, fraction, exponent + top)

    def round(self, values: Array) -> Array:
        """Round ``values`` to nearest, ties to even; overflow gives infinity, nan stays nan."""
        finite = np.isfinite(values)
        safe = np.where(finite, values, 0)
        fraction, exponent = np.frexp(np.abs(safe))
        step = self._spacing_of(safe, fraction, exponent)
        with np.errstate(over="ignore"):
            rounded = np.rint(safe / step) * step
        beyond = np.abs(safe) >= self.overflow_threshold(values.dtype)
        rounded = np.where(beyond, np.copysign(values.dtype.type(np.inf), safe), rounded)
        result: Array = np.where(finite, rounded, values)
        return result

    def _spacing_of(self, values: Array, fraction: Array, exponent: Array) -> Array:
        exponent = np.where(fraction == 0, self.min_exponent + 1, exponent)
        exponent = np.clip(exponent, self.min_exponent + 1, self.max_exponent + 1)
        step: Array = np.ldexp(values.dtype.type(1), exponent - self.precision)
        return step


_FLOATS = (
    Format("float16", 11, -14, 15, carriers=("float16",)),
    Format("bfloat16", 8, -126, 127, carriers=("bfloat16", "uint16", "float32")),
    Format("float32", 24, -126, 127, carriers=("float32",)),
    Format("float64", 53, -1022, 1023, carriers=("float64",)),
    Format("complex32", 11, -14, 15, is_complex=True, carriers=("complex64",)),
    Format("complex64", 24, -126, 127, is_complex=True, carriers=("complex64",)),
    Format("complex128", 53, -1022, 1023, is_complex=True, carriers=("complex128",)),
)
_EXACT = tuple(
    Format(name, 0, 0, 0, carriers=(name,))
    for name in ("bool", *(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")))
)
_BY_NAME = {known.name: known for known in _FLOATS + _EXACT}


def format_of(dtype: DTypeLike | Format) -> Format:
    """Return the format of a dtype's name (including ``"bfloat16"``) or of a numpy dtype.

    :raises TypeError: no dtype of the contract has this name.
    """
    if isinstance(dtype, Format):
        return dtype
    known = _BY_NAME.get(dtype) if isinstance(dtype, str) else None
    if known is None:
        try:
            known = _BY_NAME.get(np.dtype(dtype).name)
        except TypeError:
            known = None
    if known is None:
        raise TypeError(f"no number format for dtype {dtype!r}; supported: {', '.join(_BY_NAME)}")
    return known


def part_format(of: Format) -> Format:
    """Return the real format of one part of ``of``: float32 for complex64, ``of`` itself
    if real.
    """
    parts = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
    return _BY_NAME[parts.get(of.name, of.name)]


def accumulation_format(of: Format) -> Format:
    """Return the format in which the contract requires sums to be accumulated: at least float32."""
    part = part_format(of)
    return _BY_NAME["float32"] if part.precision in (8, 11) else part


def reference_format(dtype: np.dtype[Any]) -> Format:
    """Return the format of a reference array: float64 or longdouble, real or complex."""
    info = np.finfo(dtype)
    return Format(str(dtype), info.nmant + 1, int(info.minexp), int(info.maxexp) - 1)


def unit_roundoff(dtype: DTypeLike) -> float:
    """Return the unit roundoff u: half the distance from 1 to the next number of ``dtype``.

    float16 2**-11, bfloat16 2**-8, float32 2**-24, float64 2**-53; complex dtypes have the unit
    roundoff of their parts; integers and bool are exact, with 0.

    Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 2.1.

    :raises TypeError: no dtype of the contract has this name.
    """
    return format_of(dtype).unit_roundoff


def round_to(values: Array, dtype: DTypeLike) -> Array:
    """Round ``values`` (real float64 or longdouble) once to ``dtype``, without changing their
    dtype.

    :raises TypeError: ``values`` are not float64 or longdouble, or ``dtype`` is not a real float.
    """
    target = format_of(dtype)
    if target.is_exact or target.is_complex:
        raise TypeError(f"round_to takes a real floating dtype, not {target.name}")
    values = np.asarray(values)
    if values.dtype not in (np.dtype(np.float64), np.dtype(np.longdouble)):
        raise TypeError(f"round_to takes float64 or longdouble values, not {values.dtype}")
    return target.round(values)

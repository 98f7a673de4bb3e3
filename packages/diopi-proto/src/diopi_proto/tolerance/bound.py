"""Rounding bound: the allowed absolute error of one element of a result."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .formats import Array, Format, accumulation_format, format_of, part_format, reference_format
from .operators import LARGEST_MULTIPLE, PRODUCT_ROUNDINGS, TERM_ROUNDINGS, OpClass, Order

FINAL_ULPS = 1.5
"""Half an ulp for the final rounding, and one more, so that an error of one ulp is accepted."""

COMPLEX_ULPS = FINAL_ULPS * math.sqrt(2)
"""The same for a complex number with this error in both parts, in ulps of its modulus."""

COMPLEX_OPERATION = 4 * math.sqrt(2)
"""Unit roundoffs of a complex division by the textbook formula; a product has ``sqrt(5)``.

Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 3.5.
"""

COMPLEX_ELEMENTARY = 4.0
"""Number of real elementary functions in a complex one, as in exp(x) * (cos(y), sin(y))."""


@dataclass(frozen=True)
class Bound:
    """Error bound of an operator of ``op_class`` with results of ``dtype``.

    :ivar accumulate: real format in which its sums and approximations are computed.
    :ivar reference: format of the reference, whose error is allowed too.
    :ivar multiple: see :attr:`OpClass.multiple`.
    :ivar roundings: how often inputs or intermediate values are rounded to ``dtype``.
    """

    dtype: Format
    op_class: OpClass
    accumulate: Format
    reference: Format
    order: Order = Order.BLOCKED
    multiple: float = 0.0
    roundings: int = 0

    @classmethod
    def of(
        cls,
        dtype: DTypeLike | Format,
        op_class: OpClass,
        *,
        reference: DTypeLike = np.float64,
        accumulate: DTypeLike | None = None,
        order: Order = Order.BLOCKED,
        multiple: float | None = None,
        roundings: int = 0,
    ) -> Bound:
        """Return the bound of the contract, or one with the options of an operator's definition.

        ``accumulate`` defaults to float32 for 16-bit dtypes and to the dtype itself for others.
        ``multiple`` replaces the class's and lies between that and ``LARGEST_MULTIPLE``; both are
        properties of the operator's definition in the schema, never of a vendor.

        :raises ValueError: the class is RANDOM, ``multiple`` is out of range, or ``roundings`` is
            negative.
        :raises TypeError: the dtype is unknown, or ``accumulate`` is not a real float.
        """
        of = format_of(dtype)
        if op_class is OpClass.RANDOM:
            raise ValueError(
                "[RANDOM] random results have no elementwise reference: use compare_distribution"
            )
        if of.is_exact:
            op_class = OpClass.EXACT
        elif op_class is OpClass.EXACT and roundings > 0:
            # A value that was rounded in between need not equal the reference rounded once, so a
            # bound of 0 would reject correct results. After k roundings to nearest, |got - want| is
            # at most k u |want| plus half an ulp for the last rounding, which is what ROUNDING
            # allows (docs/tolerance.md, "Exact operators that round").
            op_class = OpClass.ROUNDING
        if multiple is not None and not op_class.multiple <= multiple <= LARGEST_MULTIPLE:
            raise ValueError(
                f"[{op_class.name}] multiple {multiple!r} is not between the class's own "
                f"{op_class.multiple:g} and {LARGEST_MULTIPLE:g}"
            )
        if multiple is not None and op_class in (OpClass.EXACT, OpClass.ROUNDING):
            raise ValueError(f"[{op_class.name}] has no multiple: omit the argument")
        if roundings < 0:
            raise ValueError(f"[{op_class.name}] roundings is {roundings}, expected 0 or more")
        sums = accumulation_format(of) if accumulate is None else format_of(accumulate)
        if accumulate is not None and (sums.is_exact or sums.is_complex):
            raise TypeError(f"[{op_class.name}] cannot accumulate in {sums.name}: not a real float")
        return cls(
            dtype=of,
            op_class=op_class,
            accumulate=sums,
            reference=reference_format(np.dtype(reference)),
            order=order,
            multiple=op_class.multiple if multiple is None else multiple,
            roundings=roundings,
        )

    def allowed(self, modulus: Array, scale: Array, terms: Array) -> tuple[Array, Array]:
        """Return the elementwise absolute errors ``(allowed, before_rounding)``.

        ``modulus`` is the modulus of the finite reference, ``scale`` >= ``modulus`` the magnitude
        of the summands, ``terms`` the reduction lengths. ``before_rounding`` is the part without
        the final rounding, which decides whether a result may overflow.

        :raises ValueError: so many terms that the sum has no correct digit.
        """
        if self.op_class is OpClass.EXACT:
            zero = np.zeros_like(modulus)
            return zero, zero
        before = self._computing(self.accumulate, modulus, scale, terms)
        before = before + self._computing(self.reference, modulus, scale, terms)
        if self.roundings:
            before = before + self.roundings * self._one_rounding(self.dtype, scale)
        ulps = COMPLEX_ULPS if self.dtype.is_complex else FINAL_ULPS
        final = ulps * part_format(self.dtype).spacing(modulus)
        allowed: Array = final + before + self._one_rounding(self.reference, modulus)
        return allowed, before

    def _one_rounding(self, of: Format, modulus: Array) -> Array:
        u = modulus.dtype.type(of.unit_roundoff)
        rounding: Array = u * modulus + of.smallest_subnormal
        return rounding

    def _computing(self, of: Format, modulus: Array, scale: Array, terms: Array) -> Array:
        """Return the error of computing in the format ``of``, before the final rounding."""
        u = modulus.dtype.type(of.unit_roundoff)
        is_complex = self.dtype.is_complex
        if self.op_class is OpClass.ROUNDING:
            rounded: Array = modulus * (COMPLEX_OPERATION * u if is_complex else 0 * u)
            return rounded
        if self.op_class is OpClass.ELEMENTARY:
            functions = COMPLEX_ELEMENTARY if is_complex else 1.0
            elementary: Array = functions * self.multiple * of.spacing(scale)
            return elementary
        parts = math.sqrt(2) if is_complex and self.op_class is OpClass.MATMUL else 1.0
        underflow = terms * of.smallest_subnormal
        summed: Array = self.multiple * (parts * self.gamma(terms, of) * scale + underflow)
        return summed

    def roundings_per_term(self, terms: Array) -> Array:
        """Return the roundings on the longest path from a term to the result of a REDUCTION or
        MATMUL.
        """
        if self.op_class is OpClass.MATMUL:
            # Each part of a complex inner product is a real inner product of twice the length.
            return (
                self.order.height(terms * (2 if self.dtype.is_complex else 1)) + PRODUCT_ROUNDINGS
            )
        functions = COMPLEX_ELEMENTARY if self.dtype.is_complex else 1.0
        return self.order.height(terms) + int(functions * TERM_ROUNDINGS)

    def gamma(self, terms: Array, of: Format) -> Array:
        """Return ``k u / (1 - k u)`` with k = :meth:`roundings_per_term`, elementwise.

        Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 3.1 and
        section 4.2.

        :raises ValueError: gamma reaches 1: no digit of such a sum is certain.
        """
        ku = self.roundings_per_term(terms) * of.unit_roundoff
        if np.any(ku >= 0.5):
            raise ValueError(
                f"[{self.op_class.name}] a sum of {int(np.max(terms))} terms accumulated in "
                f"{of.name} ({self.order.value} order) has no correct digit: accumulate in a "
                "wider format"
            )
        gamma: Array = ku / (1 - ku)
        return gamma

    def formula(self, terms: ArrayLike = 1) -> str:
        """Describe the bound as a formula, for reports."""
        if self.op_class is OpClass.EXACT:
            return f"0: the reference rounded to {self.dtype.name}"
        part = part_format(self.dtype).name
        ulps = COMPLEX_ULPS if self.dtype.is_complex else FINAL_ULPS
        text = [f"{ulps:.3g} ulp of {part}"]
        if self.op_class is OpClass.ELEMENTARY:
            functions = COMPLEX_ELEMENTARY if self.dtype.is_complex else 1.0
            text.append(f"{functions * self.multiple:g} ulp of {self.accumulate.name}")
        elif self.op_class in (OpClass.REDUCTION, OpClass.MATMUL):
            lengths = np.asarray(terms, dtype=np.int64)
            longest = int(np.max(self.roundings_per_term(lengths))) if lengths.size else 0
            times = "" if self.multiple == 1 else f"{self.multiple:g} "
            text.append(f"{times}gamma({longest}) of {self.accumulate.name} x magnitude")
        elif self.dtype.is_complex:
            text.append(f"{COMPLEX_OPERATION:.3g} u of {self.accumulate.name}")
        if self.roundings:
            text.append(f"{self.roundings} u of {self.dtype.name} x magnitude")
        return " + ".join(text)

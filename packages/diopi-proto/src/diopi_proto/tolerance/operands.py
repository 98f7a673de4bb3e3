"""Arrays of a comparison: validated once, then processed in pieces that fit the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .formats import Array, Format
from .operators import OpClass

PIECE = 1 << 15
"""Elements per piece, which need about 3 MB of temporaries."""


@dataclass(frozen=True)
class Sizes:
    """Finite mask, modulus (0 if not finite) and magnitude of the elements of one piece."""

    finite: Array
    modulus: Array
    scale: Array


class Operands:
    """Reference, reduction lengths and magnitudes of one result."""

    def __init__(
        self,
        reference: Array,
        dtype: Format,
        reduction_length: ArrayLike = 1,
        magnitude: ArrayLike | None = None,
    ) -> None:
        self.reference = reference
        self.dtype = dtype
        wide = reference.dtype in (np.dtype(np.longdouble), np.dtype(np.clongdouble))
        self.working: np.dtype[Any] = np.dtype(np.longdouble if wide else np.float64)
        self.terms = np.asarray(reduction_length)
        if self.terms.dtype.kind not in "iu" or np.any(self.terms < 0):
            raise ValueError(f"reduction_length must be integers >= 0, not {reduction_length!r}")
        self.magnitude = np.asarray(0.0 if magnitude is None else magnitude)
        if self.magnitude.dtype.kind not in "fiu":
            raise ValueError(f"magnitude must be real numbers, not {self.magnitude.dtype}")
        for name, given in (("reduction_length", self.terms), ("magnitude", self.magnitude)):
            if given.shape not in ((), reference.shape):
                raise ValueError(
                    f"{name} has shape {given.shape}: pass one number, or one for each element of "
                    f"the reference, {reference.shape}"
                )

    def require_reference(self, op_class: OpClass) -> None:
        """Reject a reference that is not more precise than the result.

        :raises TypeError: it is of another kind than the dtype, or narrower than float64 although
            the operator rounds.
        """
        kind, of = self.reference.dtype.kind, self.dtype
        if of.is_exact:
            fits = kind == "b" if of.name == "bool" else kind in "iu"
            wanted = "bool" if of.name == "bool" else "integer"
        else:
            fits = kind == "f" or (kind == "c" and of.is_complex)
            if fits and op_class is not OpClass.EXACT:
                fits = np.finfo(self.reference.dtype).nmant >= 52
            wanted = "complex128 or float64" if of.is_complex else "float64"
        if not fits:
            raise TypeError(
                f"the reference of a {of.name} result is {self.reference.dtype}, want {wanted}"
            )

    def pieces(self, *results: Array) -> Iterator[tuple[int, tuple[Array, ...]]]:
        """Yield ``(offset, (reference, magnitude, terms, *results))`` in C order, flat, without
        copies of whole arrays; strided arrays are gathered piece by piece."""
        keep = self.reference.dtype
        walker = np.nditer(
            (self.reference, self.magnitude, self.terms, *results),
            flags=["external_loop", "buffered", "zerosize_ok"],
            op_flags=[["readonly"]] * (3 + len(results)),
            op_dtypes=[keep, self.working, np.dtype(np.int64), *(each.dtype for each in results)],
            order="C",
            casting="same_kind",
            buffersize=PIECE,
        )
        offset = 0
        for piece in walker:
            yield offset, piece
            offset += len(piece[0])

    def parts(self, values: Array) -> list[Array]:
        """Return real and imaginary part of complex values, or the real values themselves."""
        both = [values.real, values.imag] if self.dtype.is_complex else [values]
        return [part.astype(self.working, copy=False) for part in both]

    def sizes(self, reference: Array, magnitude: Array) -> Sizes:
        """Return the modulus and scale of a piece.

        :raises ValueError: the magnitude of a finite element is negative or not finite.
        """
        parts = self.parts(reference)
        finite = np.isfinite(parts[0])
        modulus = np.abs(np.where(finite, parts[0], 0))
        for part in parts[1:]:
            finite_part = np.isfinite(part)
            modulus = np.hypot(modulus, np.where(finite_part, part, 0))
            finite = finite & finite_part
        usable = np.isfinite(magnitude) & (magnitude >= 0)
        if not np.all(usable | ~finite):
            raise ValueError("magnitude is negative or not finite where the reference is finite")
        scale = np.maximum(modulus, np.where(usable, magnitude, 0).astype(self.working, copy=False))
        return Sizes(finite, modulus, scale)

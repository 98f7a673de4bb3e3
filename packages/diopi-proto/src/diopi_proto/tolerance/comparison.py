"""Outcome of a comparison, and its report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

Number: TypeAlias = bool | int | float | complex


@dataclass(frozen=True)
class Comparison:
    """Outcome of comparing a result with its reference. Errors are absolute.

    :ivar ok: True if every element is within its bound. Also true for an empty result; see
        ``total``.
    :ivar mismatch: ``"shape"`` or ``"dtype"`` if the arrays are incomparable, else ``""``.
    :ivar detail: description of the mismatch.
    :ivar wrong: number of elements outside their bound; the total if incomparable.
    :ivar total: number of elements of the reference.
    :ivar worst: index of the element with the largest ``ratio``; None if there is none.
    :ivar got: value of the worst element; ``want`` is the reference's, ``error`` their distance
        (inf if they differ and are not both finite), ``allowed`` the allowed distance.
    :ivar ratio: error of the worst element in units of its bound; at most 1 if ok.
    :ivar max_abs: largest error of all elements; nan if there are no elements.
    :ivar max_rel: largest error relative to the reference's modulus, inf if that is 0 and the
        result is not; nan if it is undefined for all elements.
    :ivar cosine: cosine of the angle between the two as vectors (real part for complex ones); nan
        if a vector is empty, all zero or not finite.
    :ivar bound: formula of the bound.
    :ivar peer_relative: the peer's largest error relative to magnitude; nan without a peer.
        ``peer_absolute`` is its largest absolute error.
    :ivar excused: number of non-finite elements that differ from the reference, but are accepted
        because the peer's elements are identical.
    """

    ok: bool
    total: int
    wrong: int
    mismatch: str = ""
    detail: str = ""
    worst: tuple[int, ...] | None = None
    got: Number = math.nan
    want: Number = math.nan
    error: float = math.nan
    allowed: float = math.nan
    ratio: float = math.nan
    max_abs: float = math.nan
    max_rel: float = math.nan
    cosine: float = math.nan
    bound: str = ""
    peer_relative: float = math.nan
    peer_absolute: float = math.nan
    excused: int = 0

    def report(self, name: str) -> str:
        """Return two or three lines that begin with ``name``: verdict, worst element, bound.

        If shape or dtype differ, or if there are no elements, it is one line.
        """
        if self.mismatch:
            return f"{name}: {self.detail}"
        if self.worst is None:
            return f"{name}: no elements to compare"
        got, want = distinct(self.got, self.want)
        at = ", ".join(map(str, self.worst)) + ("," if len(self.worst) == 1 else "")
        lines = [
            f"{name}: {self._verdict()}",
            f"  worst at ({at}): got {got}, want {want}, off by {self.error:.1e}, allowed "
            f"{self.allowed:.1e} ({self.ratio:.3g} times the bound)",
            f"  allowed is {self.bound}",
        ]
        if self.excused:
            lines.append(f"  {self.excused} not finite, as in the peer's result")
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.ok:
            return f"{self.total} of {self.total} elements agree with the reference"
        verb = "differs" if self.wrong == 1 else "differ"
        return f"{self.wrong} of {self.total} elements {verb} from the reference"


def distinct(got: Number, want: Number) -> tuple[str, str]:
    """Format two values with four significant digits, or as many as it takes to
    distinguish them.
    """
    if isinstance(got, (bool, int)) and isinstance(want, (bool, int)):
        return str(got), str(want)
    for digits in range(4, 17):
        texts = f"{got:#.{digits}g}", f"{want:#.{digits}g}"
        if texts[0] != texts[1] or got == want:
            return texts
    return f"{got!r}", f"{want!r}"

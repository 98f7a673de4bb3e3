"""The outcome of one comparison, and its words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

Number: TypeAlias = bool | int | float | complex


@dataclass(frozen=True)
class Comparison:
    """How a result compares with its reference. Errors are absolute, in the result's own unit.

    :ivar ok: every element is within its bound; of an empty result too, so look at ``total``.
    :ivar mismatch: ``""``, or what made elements incomparable: ``"shape"`` or ``"dtype"``.
    :ivar detail: the mismatch in words.
    :ivar wrong: number of elements outside their bound; all of them if incomparable.
    :ivar total: number of elements of the reference.
    :ivar worst: index of the element with the largest ``ratio``; None if there is none.
    :ivar got: its value, ``want`` the reference's, ``error`` their distance (inf if one of them is
        not finite and the other differs), ``allowed`` what it may be.
    :ivar ratio: its error in units of the bound; at most 1 if ok.
    :ivar max_abs: largest error of all elements; nan if there is none.
    :ivar max_rel: largest error relative to the reference's modulus, inf where that is 0 and the
        result is not; nan if no element has one.
    :ivar cosine: cosine of the angle between the two as vectors, its real part if complex; nan
        where undefined: empty, all zero, or not finite.
    :ivar bound: the bound in words.
    :ivar peer_relative: the peer's largest error relative to magnitude, nan without a peer;
        ``peer_absolute`` the same absolute.
    :ivar excused: elements not finite against a finite reference (or another infinity) that were
        accepted because the peer's is exactly the same there.
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
        """Two or three lines that begin with ``name``: what is wrong, the worst element, the bound.

        One line if shape or dtype differ, or if there are no elements.
        """
        if self.mismatch:
            return f"{name}: {self.detail}"
        if self.worst is None:
            return f"{name}: no elements to compare"
        got, want = distinct(self.got, self.want)
        at = ", ".join(map(str, self.worst)) + ("," if len(self.worst) == 1 else "")
        lines = [
            f"{name}: {self._verdict()}",
            f"  worst at ({at}): got {got}, want {want}, off by {self.error:.1e}, "
            f"allowed {self.allowed:.1e} ({self.ratio:.3g} times the bound)",
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
    """Both as text: four significant digits, or as many more as it takes to tell them apart."""
    if isinstance(got, (bool, int)) and isinstance(want, (bool, int)):
        return str(got), str(want)
    for digits in range(4, 17):
        texts = f"{got:#.{digits}g}", f"{want:#.{digits}g}"
        if texts[0] != texts[1] or got == want:
            return texts
    return f"{got!r}", f"{want!r}"

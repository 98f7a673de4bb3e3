"""Running totals of a comparison in pieces."""

from __future__ import annotations

import math

import numpy as np

from .formats import Array


class Tally:
    """Number of wrong elements, and the worst one; call :meth:`add` once per piece, in C order."""

    def __init__(self) -> None:
        self.wrong = 0
        self.offset = -1
        self.ratio = -1.0
        self.error = math.nan
        self.allowed = math.nan
        self.max_abs = math.nan
        self.max_rel = math.nan
        self.cosine = Cosine()

    def add(
        self, offset: int, error: Array, allowed: Array, wrong: Array, modulus: Array, finite: Array
    ) -> None:
        """Add a piece. ``modulus`` is valid only where the reference is ``finite``; no error may be
        nan.
        """
        self.wrong += int(np.count_nonzero(wrong))
        ratio = np.where(error == 0, 0.0, error / allowed)
        ratio = np.where(np.isnan(ratio), np.inf, ratio)
        relative = np.where(error == 0, 0.0, error / modulus)
        at = int(np.argmax(ratio))
        if np.isinf(ratio[at]):
            at = int(np.argmax(np.where(np.isinf(ratio), error, -1.0)))
        found = float(ratio[at]), float(error[at])
        if found > (self.ratio, self.error) or self.offset < 0:
            self.offset = offset + at
            self.ratio, self.error = found
            self.allowed = float(allowed[at])
        self.max_abs = float(np.fmax(self.max_abs, np.max(error)))
        defined = finite & ((modulus > 0) | (error > 0))
        if np.any(defined):
            self.max_rel = float(np.fmax(self.max_rel, np.max(relative[defined])))


class Cosine:
    """Cosine between two vectors given in pieces, without overflow or underflow of squares."""

    def __init__(self) -> None:
        self._scales = [0.0, 0.0]
        self._squares = [0.0, 0.0]
        self._dot = 0.0
        self._finite = True

    def add(self, left: Array, right: Array) -> None:
        """Add a piece: real vectors, or one part of complex ones."""
        largest = [float(np.max(np.abs(side))) for side in (left, right)]
        self._finite = self._finite and all(map(math.isfinite, largest))
        if not self._finite:
            return
        scaled = []
        for at, side in enumerate((left, right)):
            self._widen(at, largest[at])
            scaled.append(side / (self._scales[at] or 1.0))
            self._squares[at] += float(np.sum(np.square(scaled[at])))
        # Not numpy.dot, whose threads cost more than they save for pieces of this size.
        self._dot += float(np.sum(scaled[0] * scaled[1]))

    def _widen(self, at: int, largest: float) -> None:
        if largest > self._scales[at]:
            shrink = self._scales[at] / largest
            self._squares[at] *= shrink * shrink
            self._dot *= shrink
            self._scales[at] = largest

    def value(self) -> float:
        """Return the cosine in [-1, 1]; nan if a vector is empty, all zero or not finite."""
        norm = math.sqrt(self._squares[0]) * math.sqrt(self._squares[1])
        if not self._finite or norm == 0:
            return math.nan
        return max(-1.0, min(1.0, self._dot / norm))

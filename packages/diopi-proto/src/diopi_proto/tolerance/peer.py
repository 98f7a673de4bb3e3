"""Peer: errors of a trusted implementation of the same dtype, which extend the bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .carriers import decode, open_carrier
from .formats import Array
from .operands import Operands, Sizes

PEER_MULTIPLE = 2.0
"""Multiple of the peer's error that is allowed in addition to the bound."""


@dataclass(frozen=True)
class Peer:
    """Largest finite errors of a peer, relative to magnitude and absolute."""

    relative: float
    absolute: float
    least: float

    @classmethod
    def measure(cls, values: Array, operands: Operands) -> Peer:
        """Measure the errors of a peer where both the peer and the reference are finite.

        Magnitudes below the smallest normal number are raised to it, since spacing is constant
        there.
        """
        least = operands.dtype.smallest_normal
        relative = absolute = 0.0
        for _, (reference, magnitude, _, piece) in operands.pieces(values):
            sizes = operands.sizes(reference, magnitude)
            distance: Array = np.zeros(())
            results = operands.parts(decode(piece, operands.dtype))
            for got, want in zip(results, operands.parts(reference), strict=True):
                distance = np.hypot(distance, np.where(np.isfinite(got), got - want, np.nan))
            distance = np.where(sizes.finite & np.isfinite(distance), distance, 0)
            absolute = max(absolute, float(np.max(distance)))
            relative = max(relative, float(np.max(distance / np.maximum(sizes.scale, least))))
        return cls(relative, absolute, least)

    def allowed(self, sizes: Sizes) -> Array:
        """Return the smaller of the two limits that follow from the peer's errors, elementwise."""
        scaled = self.relative * np.maximum(sizes.scale, self.least)
        limit: Array = PEER_MULTIPLE * np.minimum(scaled, self.absolute)
        return limit

    def formula(self) -> str:
        return (
            f" + {PEER_MULTIPLE:g} x the peer's error ({self.relative:.1e} of magnitude, at most "
            f"{self.absolute:.1e})"
        )


NO_PEER = Peer(math.nan, math.nan, math.nan)


def open_peer(values: Array, operands: Operands) -> Array:
    """Return the peer's result for decoding.

    :raises ValueError: the peer's result differs from the checked one in shape or dtype.
    """
    shape, name = operands.reference.shape, operands.dtype.name
    opened = open_carrier(values, operands.dtype)
    if opened is None or values.shape != shape:
        raise ValueError(f"the peer's result is {values.dtype} {values.shape}: want {name} {shape}")
    return opened

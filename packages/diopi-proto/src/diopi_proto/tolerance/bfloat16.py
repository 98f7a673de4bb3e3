"""bfloat16 in numpy, as uint16 arrays of bit patterns, since numpy has no such dtype."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .formats import round_to


def bfloat16_to_float32(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Convert bfloat16 bit patterns of any shape to float32, exactly.

    :raises TypeError: ``bits`` is not uint16.
    """
    if bits.dtype != np.uint16:
        raise TypeError(f"bfloat16 bit patterns are uint16, not {bits.dtype}")
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def float32_to_bfloat16(values: NDArray[np.floating]) -> NDArray[np.uint16]:
    """Round float32 or float64 ``values`` once to bfloat16, ties to even; return bit patterns."""
    with np.errstate(invalid="ignore", under="ignore"):
        rounded = round_to(np.asarray(values, dtype=np.float64), "bfloat16")
        # Narrowing sets the quiet bit of a NaN, which is in the upper 16 bits, so a NaN stays a
        # NaN.
        upper = rounded.astype(np.float32).view(np.uint32) >> np.uint32(16)
    return upper.astype(np.uint16)

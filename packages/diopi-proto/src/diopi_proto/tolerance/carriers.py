"""Result arrays as numpy holds them: right dtype or not, and the values they stand for."""

from __future__ import annotations

import numpy as np

from .bfloat16 import bfloat16_to_float32
from .formats import Array, Format, part_format


class ForeignValueError(Exception):
    """A value in a wider carrier is not one of the format's: the result is of another dtype."""


def open_carrier(values: Array, of: Format) -> Array | None:
    """``values`` as an array that :func:`decode` reads, or None if the dtype is another one.

    bfloat16 comes as bit patterns (uint16), as a foreign numpy dtype of that name, or widened to
    float32; complex32 widened to complex64.
    """
    name = values.dtype.name
    if name not in of.carriers:
        return None
    if name == "bfloat16":
        return values.view(np.uint16)
    # A vendor may write other bytes than 0 and 1 into a bool, and numpy would not show it.
    return values.view(np.uint8) if name == "bool" else values


def decode(values: Array, of: Format) -> Array:
    """The numbers of a piece of an opened carrier, exact.

    :raises ForeignValueError: see there.
    """
    if of.name == "bfloat16" and values.dtype == np.uint16:
        return bfloat16_to_float32(values)
    if of.name in ("bfloat16", "complex32"):
        for part in (values.real, values.imag):
            wide = part.astype(np.float64)
            if np.any((part_format(of).round(wide) != wide) & ~np.isnan(wide)):
                raise ForeignValueError(
                    f"dtype is {values.dtype} with values that {of.name} does not have, "
                    f"want {of.name}"
                )
    return values

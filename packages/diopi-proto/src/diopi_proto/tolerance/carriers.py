"""Carriers: numpy arrays that hold results of dtypes which numpy may not have."""

from __future__ import annotations

import numpy as np

from .bfloat16 import bfloat16_to_float32
from .formats import Array, Format, part_format


class ForeignValueError(Exception):
    """A value in a wider carrier is not representable in the format, so the dtype is wrong."""


def open_carrier(values: Array, of: Format) -> Array | None:
    """Return ``values`` as an array for :func:`decode`, or None if their dtype is wrong.

    Accepted for bfloat16 are bit patterns (uint16), a foreign numpy dtype of that name, and
    float32; for complex32, complex64.
    """
    name = values.dtype.name
    if name not in of.carriers:
        return None
    if name == "bfloat16":
        return values.view(np.uint16)
    # A vendor may write other bytes than 0 and 1 into a bool, which numpy would hide.
    return values.view(np.uint8) if name == "bool" else values


def decode(values: Array, of: Format) -> Array:
    """Return the exact values of a piece of an opened carrier.

    :raises ForeignValueError: a value is not representable in the format.
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

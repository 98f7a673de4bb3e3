"""Conversion of arrays to the dtypes of a graph, unless values would be lost."""

from __future__ import annotations

from typing import Any

import numpy as np

from diopi_proto.dtypes import Array, Dtype, to_storage


def convert_array(given: Any, dtype: Dtype) -> Array:
    """Return an array in numpy's representation of ``dtype``; floats may be rounded.

    :raises ValueError: ``dtype`` cannot represent one of the values.
    """
    array = np.asarray(given)
    if array.dtype == dtype.storage or array.dtype.kind == "V":
        return to_storage(array, dtype)
    if array.dtype.kind == "c" and dtype.storage.kind != "c":
        raise ValueError(f"{array.dtype} would lose its imaginary parts as {dtype}")
    with np.errstate(over="ignore", invalid="ignore"):
        made = to_storage(array, dtype)
    if array.size == 0 or (dtype.name != "bfloat16" and np.can_cast(array.dtype, dtype.storage)):
        return made
    if dtype.name == "bfloat16":
        lost = np.isfinite(array) & (made & 0x7F80 == 0x7F80)
    elif dtype.storage.kind in "iub":
        # Compared as Python numbers if no numpy dtype can represent both.
        same = array == made
        if array.dtype.kind in "iu" and made.dtype.kind in "iu":
            same = array.astype(object) == made.astype(object)
        lost = ~np.asarray(same, bool)
    else:
        lost = np.isfinite(array) & ~np.isfinite(made)
    if lost.any():
        raise ValueError(f"{array[lost][0]} does not fit {dtype}; convert the array yourself")
    return made

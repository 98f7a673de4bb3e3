"""Arrays for a graph: files of them, and what a conversion to a graph's dtypes would lose."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ..dtypes import Array, Dtype, to_storage


def read_inputs(path: Path) -> dict[str, Array]:
    """The arrays of an ``.npz`` file by name.

    :raises ValueError: it is none, or holds other things than arrays of numbers.
    :raises OSError: it cannot be read.
    """
    try:
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise ValueError("it has one array without a name")
        with file:
            return {name: file[name] for name in file.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no .npz file of inputs by name: {error}") from error


def converted(given: Any, dtype: Dtype) -> Array:
    """What is given as numpy stores ``dtype``; floats may be rounded.

    :raises ValueError: the dtype does not have one of the values.
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
        # As Python's numbers where no dtype of numpy's has the values of both.
        same = array == made
        if array.dtype.kind in "iu" and made.dtype.kind in "iu":
            same = array.astype(object) == made.astype(object)
        lost = ~np.asarray(same, bool)
    else:
        lost = np.isfinite(array) & ~np.isfinite(made)
    if lost.any():
        raise ValueError(f"{array[lost][0]} is no {dtype}; convert the array yourself")
    return made

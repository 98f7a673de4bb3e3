"""The dtypes of the contract and how numpy stores them.

numpy knows neither bfloat16 nor complex32: their elements are stored as ``uint16`` and ``uint32``
bits, and a :class:`Dtype` next to the array gives their meaning.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .tolerance.bfloat16 import bfloat16_to_float32, float32_to_bfloat16

__all__ = [
    "DTYPES",
    "Array",
    "Dtype",
    "bfloat16_to_float32",
    "dtype_of",
    "float32_to_bfloat16",
    "to_storage",
]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Dtype:
    """One dtype of the contract."""

    name: str
    """Name as in ``diopi_dtype_<name>``."""
    number: int
    """Value of that enumerator."""
    storage: np.dtype[Any]
    """numpy dtype that stores an element."""

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.storage.itemsize

    def __str__(self) -> str:
        return self.name


_STORAGE = {
    "int8": (0, "int8"),
    "uint8": (1, "uint8"),
    "int16": (2, "int16"),
    "uint16": (3, "uint16"),
    "int32": (4, "int32"),
    "uint32": (5, "uint32"),
    "int64": (6, "int64"),
    "uint64": (7, "uint64"),
    "float16": (8, "float16"),
    "float32": (9, "float32"),
    "float64": (10, "float64"),
    "bool": (11, "bool"),
    "bfloat16": (12, "uint16"),
    "tfloat32": (13, "float32"),
    "complex32": (14, "uint32"),
    "complex64": (15, "complex64"),
    "complex128": (16, "complex128"),
}

DTYPES = {name: Dtype(name, n, np.dtype(storage)) for name, (n, storage) in _STORAGE.items()}
"""All dtypes by name."""

_BY_NUMBER = {dtype.number: dtype for dtype in DTYPES.values()}


def dtype_of(value: Dtype | str | int | npt.DTypeLike) -> Dtype:
    """Return the dtype for a name, a value of ``diopiDtype_t`` or a numpy dtype.

    :raises ValueError: the contract has no such dtype.
    """
    if isinstance(value, Dtype):
        return value
    found = None
    if isinstance(value, int):
        found = _BY_NUMBER.get(value)
    elif isinstance(value, str) and value in DTYPES:
        found = DTYPES[value]
    else:
        with suppress(TypeError):
            found = DTYPES.get(np.dtype(value).name)
    if found is None:
        raise ValueError(f"{value!r} is not a dtype of the contract, which has {', '.join(DTYPES)}")
    return found


_NUMBERS = (bool, int, float, complex, np.number, np.bool_)


def check_numeric(dtype: np.dtype[Any]) -> None:
    """Reject a numpy dtype that does not hold numbers, although numpy could convert it to numbers.

    :raises ValueError: dates, durations, strings, objects, structures, or raw bytes.
    """
    # Extension types of other packages, such as bfloat16, are of kind V without being numpy.void.
    extension = dtype.kind == "V" and not issubclass(dtype.type, np.void)
    if dtype.kind not in "biufc" and not extension:
        hint = "; save bfloat16 as its bits, uint16, or as float32" if dtype.kind == "V" else ""
        raise ValueError(f"an array of {dtype} does not hold numbers; convert it yourself{hint}")


def to_storage(array: Array, dtype: Dtype) -> Array:
    """Convert an array to the numpy dtype that stores ``dtype``.

    An array that has that dtype already is returned itself. For bfloat16, ``uint16`` elements are
    taken as bits; other dtypes are rounded by :func:`float32_to_bfloat16`. complex32 is bits only.

    :raises ValueError: the target is complex32, or the array does not hold numbers.
    """
    if array.dtype == dtype.storage:
        return array
    if array.dtype != object or not all(isinstance(x, _NUMBERS) for x in array.flat):
        check_numeric(array.dtype)
    if dtype.name == "bfloat16":
        if array.dtype.name == "bfloat16":  # another package's numpy dtype
            return array.view(np.uint16)
        return float32_to_bfloat16(array)
    if dtype.name == "complex32":
        raise ValueError("complex32 tensors are made from uint32 bits, two float16 each")
    return array.astype(dtype.storage)

"""Arguments of a launch, converted to bytes that can be sent to a worker process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import MskppError

Packed = bytes | NDArray[Any]
"""Argument: an array for a pointer, or the bytes of a value."""
_SCALARS = {
    "bool": np.bool_, "char": np.int8, "float": np.float32, "double": np.float64,
    "int": np.int32, "unsigned": np.uint32, "unsigned int": np.uint32, "size_t": np.uint64,
    "int8_t": np.int8, "int16_t": np.int16, "int32_t": np.int32, "int64_t": np.int64,
    "uint8_t": np.uint8, "uint16_t": np.uint16, "uint32_t": np.uint32, "uint64_t": np.uint64,
}  # fmt: skip


def packed(arguments: Sequence[Any], types: Sequence[str] | None) -> list[Packed]:
    """Return copies of numpy arrays, ctypes structures and numbers.

    :param types: types of the kernel's parameters; None if they are not known.
    :raises MskppError: the number of arguments is wrong, or an argument has an unsupported type.
    """
    if types is not None and len(arguments) != len(types):
        raise MskppError(
            f"[mskpp] the kernel has {len(types)} parameters, but {len(arguments)} were given"
        )
    found: list[Packed] = []
    for at, value in enumerate(arguments):
        wanted = None if types is None else types[at].removeprefix("std::")
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous or not value.flags.writeable:
                raise MskppError(
                    f"[mskpp] argument {at} is not contiguous or not writable: pass a copy"
                )
            found.append(value.copy())
        elif isinstance(value, np.generic):
            found.append(value.tobytes())
        elif _has_bytes(value):
            found.append(bytes(value))
        elif isinstance(value, int | float) and wanted in _SCALARS:
            found.append(_number(value, wanted, at))
        else:
            raise MskppError(
                f"[mskpp] argument {at} is {value!r}: a parameter"
                f"{'' if wanted is None else ' of type ' + wanted} takes a numpy array for"
                " GM_ADDR, otherwise a ctypes.Structure, a numpy scalar, or a number"
            )
    return found


def _has_bytes(value: Any) -> bool:
    """Return True if the value is memory, as a ctypes structure is."""
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def _number(value: float, wanted: str, at: int) -> bytes:
    kind = _SCALARS[wanted]
    try:
        number: NDArray[Any] = np.array(value).astype(kind)
    except OverflowError as error:
        raise MskppError(f"[mskpp] argument {at}: {value!r} is not a {wanted}") from error
    if not np.issubdtype(kind, np.floating) and number != value:
        raise MskppError(f"[mskpp] argument {at}: {value!r} is not a {wanted}")
    return number.tobytes()


def write_back(written: Mapping[int, NDArray[Any]], arguments: Sequence[Any]) -> None:
    """Copy the results of a kernel to the caller's arrays."""
    for at, array in written.items():
        arguments[at][...] = array

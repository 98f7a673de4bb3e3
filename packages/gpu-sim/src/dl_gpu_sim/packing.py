"""Checks of launch arguments, and their conversion to parameter bytes."""

from __future__ import annotations

import operator
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

Size = int | tuple[int, ...]
Argument = np.ndarray[Any, Any] | np.generic | int | float | bool

MOST_GRID = (2**31 - 1, 65535, 65535)
MOST_BLOCK = (1024, 1024, 64)
MOST_THREADS = 1024
"""Maximum number of threads in a block."""
MOST_SHARED = 166912
"""Maximum size of a block's dynamic shared memory in bytes."""


class LaunchError(ValueError):
    """The arguments of a launch do not match the kernel."""


def sizes_of(name: str, grid: Size, block: Size) -> list[int]:
    """Return three sizes of the grid and three of the block, within a GPU's limits.

    :raises LaunchError: a size is invalid or too large.
    """
    blocks, threads = (
        _sizes(name, "grid", grid, MOST_GRID),
        _sizes(name, "block", block, MOST_BLOCK),
    )
    if threads[0] * threads[1] * threads[2] > MOST_THREADS:
        raise LaunchError(
            f"[launch] '{name}': grid {grid} and block {block}: 1 to {MOST_THREADS} threads a block"
        )
    return [*blocks, *threads]


def _sizes(name: str, what: str, given: object, most: Sequence[int]) -> list[int]:
    listed: list[Any] = [*given] if isinstance(given, tuple | list) else [given]
    try:
        sizes = [operator.index(each) for each in listed]
    except TypeError:
        sizes = []
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"[launch] '{name}': {what} {given!r} is not one to three integers")
    sizes += [1] * (3 - len(sizes))
    for size, largest in zip(sizes, most, strict=True):
        if not 1 <= size <= largest:
            raise LaunchError(
                f"[launch] '{name}': {what} {given!r}: sizes must be from 1 to {tuple(most)}"
            )
    return sizes


def whole(name: str, what: str, given: object, most: int) -> int:
    """Convert an argument to an integer from 0 to ``most``.

    :raises LaunchError: it is not such an integer.
    """
    try:
        number = operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not 0 <= number <= most:
        raise LaunchError(f"[launch] '{name}': {what} {given!r} is not an integer from 0 to {most}")
    return number


def check_array(where: str, array: np.ndarray[Any, Any]) -> None:
    """Check that an array can be copied to the device.

    :raises LaunchError: it cannot be copied.
    """
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise LaunchError(f"[launch] {where}: an array must be contiguous and writable")
    if array.dtype.hasobject:
        raise LaunchError(f"[launch] {where}: an array of Python objects cannot be copied")


def scalar(where: str, value: object, count: int) -> bytes:
    """Return the ``count`` bytes of a parameter in memory.

    :raises LaunchError: the value does not have that width.
    """
    if isinstance(value, np.generic):
        data = value.tobytes()
        if value.dtype.hasobject or len(data) != count:
            raise LaunchError(f"[launch] {where} has {count} bytes, got {len(data)}")
        return data
    if isinstance(value, float) and count in (4, 8):
        try:
            return struct.pack("<f" if count == 4 else "<d", value)
        except OverflowError:
            raise LaunchError(f"[launch] {where}: {value!r} is too large for float32") from None
    if isinstance(value, int) and count in (1, 2, 4, 8):
        bits = 8 * count
        if not -(1 << bits - 1) <= value < 1 << bits:
            raise LaunchError(f"[launch] {where} has {count} bytes, too few for {value!r}")
        return (value & (1 << bits) - 1).to_bytes(count, "little")
    raise LaunchError(
        f"[launch] {where} has {count} bytes: pass an array, a number or numpy bytes in place of"
        f" {value!r}"
    )

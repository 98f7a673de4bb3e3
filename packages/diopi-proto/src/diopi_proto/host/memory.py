"""Aligned host memory."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64


def aligned_bytes(count: int, alignment: int = ALIGNMENT) -> npt.NDArray[np.uint8]:
    """Return ``count`` uninitialized bytes at a multiple of ``alignment``.

    :raises MemoryError: memory is exhausted.
    """
    try:
        block = np.empty(count + alignment, dtype=np.uint8)
    except (ValueError, OverflowError) as error:  # larger than an array can be
        raise MemoryError(f"cannot allocate {count} bytes") from error
    start = -int(block.ctypes.data) % alignment
    return block[start : start + count]


class HostMemory:
    """Blocks of host memory by address, for callers that free by address. Thread-safe."""

    def __init__(self) -> None:
        self._blocks: dict[int, npt.NDArray[Any]] = {}
        self._lock = threading.Lock()

    def allocate(self, count: int, alignment: int = ALIGNMENT) -> int:
        """Allocate a block and return its address.

        :raises MemoryError: memory is exhausted.
        """
        block = aligned_bytes(max(count, 1), max(alignment, 1))
        address = int(block.ctypes.data)
        with self._lock:
            self._blocks[address] = block
        return address

    def free(self, address: int) -> bool:
        """Free a block; return False for an unknown address."""
        with self._lock:
            return self._blocks.pop(address, None) is not None

    def __len__(self) -> int:
        return len(self._blocks)

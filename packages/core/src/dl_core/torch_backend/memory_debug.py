"""Raw allocations, limits, and the memory checker."""

from __future__ import annotations

import atexit
from typing import Any

from dl_core import _C
from dl_core.torch_backend import DEVICE
from dl_core.torch_backend._utils import DeviceLike, existing_index


def caching_allocator_alloc(size: int, device: DeviceLike = None, stream: Any = None) -> int:
    """Allocate ``size`` bytes without a tensor.

    :param stream: a stream of ``device`` in whose order the memory is used (default: the current
        one).
    :returns: the address, for :func:`caching_allocator_delete`.
    :raises ValueError: ``size`` is not positive.
    :raises torch.OutOfMemoryError: the device is out of memory.
    """
    from dl_core.torch_backend import streams

    if size <= 0:
        raise ValueError(f"[caching_allocator_alloc] {size} bytes cannot be allocated")
    index = existing_index("caching_allocator_alloc", device)
    with streams.stream(stream):
        return _C.allocate_raw(size, index)


def caching_allocator_delete(mem_ptr: int) -> None:
    """Free memory of :func:`caching_allocator_alloc`.

    :raises ValueError: the address is not allocated; with ``DL_MEM_CHECK=1`` the message says where
        it was freed before.
    """
    _C.free_raw(mem_ptr)


def set_per_process_memory_fraction(fraction: float, device: DeviceLike = None) -> None:
    """Limit this process to ``fraction`` (0 to 1) of the device's memory.

    An allocation beyond the limit raises an out-of-memory error after cached memory was released.

    :raises ValueError: ``fraction`` is out of range.
    :raises NotImplementedError: the vendor does not report the memory size.
    """
    index = existing_index("set_per_process_memory_fraction", device)
    _C.set_memory_fraction(index, float(fraction))


def get_per_process_memory_fraction(device: DeviceLike = None) -> float:
    """Return the fraction of the device's memory that this process may use."""
    return _C.memory_fraction(existing_index("get_per_process_memory_fraction", device))


def check_memory() -> list[str]:
    """Check all memory and return the errors that the memory checker has found so far.

    :returns: a text with stacks for each out-of-bounds write and each use after free.
    :raises RuntimeError: the checker is disabled.
    """
    if not _C.checks_memory():
        raise RuntimeError(
            f"[torch.{DEVICE}.memory.check_memory] the memory checker is disabled. Start the "
            f"process with DL_MEM_CHECK=1, or DL_MEM_CHECK=2 to check after every operator."
        )
    return _C.check_memory()


def start_check(level: int, stacks: bool) -> None:
    """Enable the memory checker, before the first allocation. Level 2: check after every
    operator."""
    _C.start_memory_check(stacks, level > 1)
    # Symbolize stacks while the interpreter exists; leaks are reported later, at process exit.
    atexit.register(_C.prepare_leak_report)

"""Raw allocations, limits, and the memory checker."""

from __future__ import annotations

import atexit
from typing import Any

from dl_core import _C
from dl_core.torch_backend import DEVICE
from dl_core.torch_backend._utils import DeviceLike, existing_index


def caching_allocator_alloc(size: int, device: DeviceLike = None, stream: Any = None) -> int:
    """Allocate ``size`` bytes without a tensor.

    :param stream: a stream of ``device`` in whose order the memory is used; by default the current
        one.
    :returns: the address, for :func:`caching_allocator_delete`.
    :raises ValueError: ``size`` is not positive.
    :raises torch.OutOfMemoryError: the device has no room.
    """
    from dl_core.torch_backend import streams

    if size <= 0:
        raise ValueError(f"[caching_allocator_alloc] {size} bytes cannot be allocated")
    index = existing_index("caching_allocator_alloc", device)
    with streams.stream(stream):
        return _C.allocate_raw(size, index)


def caching_allocator_delete(mem_ptr: int) -> None:
    """Free what :func:`caching_allocator_alloc` gave.

    :raises ValueError: it is not allocated; with ``DL_MEM_CHECK=1`` the message says where it was
        freed before.
    """
    _C.free_raw(mem_ptr)


def set_per_process_memory_fraction(fraction: float, device: DeviceLike = None) -> None:
    """Let this process take at most ``fraction`` (0 to 1) of the device's memory.

    What passes it is out of memory, after what is cached was given back.

    :raises ValueError: ``fraction`` lies elsewhere.
    :raises NotImplementedError: the vendor does not tell how much memory there is.
    """
    index = existing_index("set_per_process_memory_fraction", device)
    _C.set_memory_fraction(index, float(fraction))


def get_per_process_memory_fraction(device: DeviceLike = None) -> float:
    """The part of the device's memory that this process may take."""
    return _C.memory_fraction(existing_index("get_per_process_memory_fraction", device))


def check_memory() -> list[str]:
    """What the memory checker has found so far, after a look at all memory.

    :returns: one text for each write out of bounds or after a free, with the stacks.
    :raises RuntimeError: the checker is off.
    """
    if not _C.checks_memory():
        raise RuntimeError(
            f"[torch.{DEVICE}.memory.check_memory] the memory checker is off. Start the process "
            f"with DL_MEM_CHECK=1, or DL_MEM_CHECK=2 to look after every operator."
        )
    return _C.check_memory()


def start_check(level: int, stacks: bool) -> None:
    """Turn the memory checker on, before the first allocation. Level 2: after every operator."""
    _C.start_memory_check(stacks, level > 1)
    # While the interpreter can still name lines; who is left is told when the process has ended.
    atexit.register(_C.prepare_leak_report)

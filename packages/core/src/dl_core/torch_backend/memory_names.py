"""Further names of ``torch.cuda`` for memory, deprecated ones as well."""

from __future__ import annotations

from typing import Any

from dl_core.torch_backend._utils import DeviceLike
from dl_core.torch_backend.memory_counters import (
    max_memory_reserved,
    mem_get_info,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
)

# As torch once called them.
memory_cached = memory_reserved
max_memory_cached = max_memory_reserved
reset_max_memory_allocated = reset_peak_memory_stats
reset_max_memory_cached = reset_peak_memory_stats


def memory_stats_as_nested_dict(device: DeviceLike = None) -> dict[str, Any]:
    """:func:`memory_stats` with a dictionary for each part of a name between its points."""
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        *folders, last = name.split(".")
        place = nested
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return nested


def device_memory_used(device: DeviceLike = None) -> int:
    """Bytes of the device that are in use, by whomever, as its vendor sees them."""
    free, total = mem_get_info(device)
    return total - free


def get_allocator_backend() -> str:
    """Name of the allocator: ``native``, as of the caching allocator of CUDA."""
    return "native"

"""Additional names of ``torch.cuda`` for memory functions, including deprecated ones."""

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

# Former names in torch.
memory_cached = memory_reserved
max_memory_cached = max_memory_reserved
reset_max_memory_allocated = reset_peak_memory_stats
reset_max_memory_cached = reset_peak_memory_stats


def memory_stats_as_nested_dict(device: DeviceLike = None) -> dict[str, Any]:
    """Return :func:`memory_stats` as nested dictionaries, split at the dots of the names."""
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        *folders, last = name.split(".")
        place = nested
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return nested


def device_memory_used(device: DeviceLike = None) -> int:
    """Return the bytes in use on the device by all processes, as reported by its vendor."""
    free, total = mem_get_info(device)
    return total - free


def get_allocator_backend() -> str:
    """Return the name of the allocator: ``native``, as for CUDA's caching allocator."""
    return "native"

"""The module ``torch.dl.memory``, with the names of ``torch.cuda.memory``."""

from __future__ import annotations

from typing import Any

from dl_core.torch_backend.memory_counters import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)
from dl_core.torch_backend.memory_debug import (
    caching_allocator_alloc,
    caching_allocator_delete,
    check_memory,
    get_per_process_memory_fraction,
    set_per_process_memory_fraction,
)
from dl_core.torch_backend.memory_history import (
    _dump_snapshot as _dump_snapshot,
)
from dl_core.torch_backend.memory_history import (
    _record_memory_history as _record_memory_history,
)
from dl_core.torch_backend.memory_history import (
    _snapshot as _snapshot,
)
from dl_core.torch_backend.memory_history import (
    memory_snapshot,
)
from dl_core.torch_backend.memory_names import (
    device_memory_used,
    get_allocator_backend,
    max_memory_cached,
    memory_cached,
    memory_stats_as_nested_dict,
    reset_max_memory_allocated,
    reset_max_memory_cached,
)

__all__ = [
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "check_memory",
    "device_memory_used",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]


def __getattr__(name: str) -> Any:
    from dl_core.torch_backend.refused import refusal  # rarely needed

    raise AttributeError(refusal(name) or f"module 'torch.dl.memory' has no attribute {name!r}")

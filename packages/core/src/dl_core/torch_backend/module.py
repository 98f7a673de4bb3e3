"""What users see as ``torch.dl``. The names and meanings are those of ``torch.cuda``."""

from __future__ import annotations

from typing import Any

# torch calls what is imported `as` itself by these private names.
from dl_core.torch_backend import _utils as _utils
from dl_core.torch_backend.devices import (
    DeviceProperties,
    current_device,
    device,
    device_count,
    device_of,
    get_amp_supported_dtype,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
    synchronize,
)
from dl_core.torch_backend.devices import (
    _is_in_bad_fork as _is_in_bad_fork,
)
from dl_core.torch_backend.devices import (
    _lazy_init as _lazy_init,
)
from dl_core.torch_backend.fallback import (
    fallback,
    fallback_mode,
    fallback_stats,
    native_operators,
    native_stats,
    profile_operators,
    reset_fallback_stats,
    reset_native_stats,
    set_fallback_mode,
    set_force_fallback,
)
from dl_core.torch_backend.legacy import storage_class
from dl_core.torch_backend.memory import (
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
from dl_core.torch_backend.random import (
    _generators,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from dl_core.torch_backend.random import (
    _get_generator as _get_generator,
)
from dl_core.torch_backend.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

__all__ = [
    "DeviceProperties",
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "fallback",
    "fallback_mode",
    "fallback_stats",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "native_operators",
    "native_stats",
    "profile_operators",
    "reset_accumulated_memory_stats",
    "reset_fallback_stats",
    "reset_native_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_fallback_mode",
    "set_force_fallback",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]


def __getattr__(name: str) -> Any:
    if name == "default_generators":
        return _generators()
    found = storage_class(name)
    if found is None:
        raise AttributeError(f"module 'torch.dl' has no attribute {name!r}")
    return found


# Activation checkpointing saves and restores the generators only of devices that say so.
_initialized = True

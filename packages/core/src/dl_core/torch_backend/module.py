"""The module ``torch.dl``, with the names and meanings of ``torch.cuda``."""

from __future__ import annotations

import sys
from typing import Any

import torch

# Names that torch uses, but that are private here.
from dl_core.torch_backend import _utils as _utils
from dl_core.torch_backend import amp, memory, random, streams
from dl_core.torch_backend._utils import current_device, device_count
from dl_core.torch_backend.adaptors import adaptor_stats, reset_adaptor_stats
from dl_core.torch_backend.added import added_operators
from dl_core.torch_backend.devices import (
    DeviceProperties,
    device,
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
from dl_core.torch_backend.distributed import agree_on_tuning
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
)
from dl_core.torch_backend.kernels import Kernel, compile_kernel
from dl_core.torch_backend.legacy import STORAGES, TENSORS, legacy_class
from dl_core.torch_backend.memory import (
    _dump_snapshot as _dump_snapshot,
)
from dl_core.torch_backend.memory import (
    _record_memory_history as _record_memory_history,
)
from dl_core.torch_backend.memory import (
    _snapshot as _snapshot,
)
from dl_core.torch_backend.memory import (
    caching_allocator_alloc,
    caching_allocator_delete,
    check_memory,
    device_memory_used,
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from dl_core.torch_backend.modes import (
    autocompare,
    dump_op_args,
    force_fallback,
    keep_default,
    set_autocompare,
    set_dump_op_args,
    set_force_fallback,
    set_keep_default,
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
from dl_core.torch_backend.state import (
    can_device_access_peer,
    get_arch_list,
    get_gencode_flags,
    get_sync_debug_mode,
    has_half,
    has_magma,
    ipc_collect,
    is_current_stream_capturing,
    is_tf32_supported,
    set_sync_debug_mode,
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
from dl_core.torch_backend.tuning import tuning_stats

AcceleratorError = torch.AcceleratorError
OutOfMemoryError = torch.OutOfMemoryError

__all__ = [
    "AcceleratorError",
    "DeviceProperties",
    "Event",
    "Kernel",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "adaptor_stats",
    "added_operators",
    "agree_on_tuning",
    "amp",
    "autocompare",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "can_device_access_peer",
    "check_memory",
    "compile_kernel",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "dump_op_args",
    "empty_cache",
    "fallback",
    "fallback_mode",
    "fallback_stats",
    "force_fallback",
    "get_allocator_backend",
    "get_amp_supported_dtype",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "get_sync_debug_mode",
    "has_half",
    "has_magma",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "keep_default",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "native_operators",
    "native_stats",
    "profile_operators",
    "random",
    "reset_accumulated_memory_stats",
    "reset_adaptor_stats",
    "reset_fallback_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_native_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_autocompare",
    "set_device",
    "set_dump_op_args",
    "set_fallback_mode",
    "set_force_fallback",
    "set_keep_default",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_sync_debug_mode",
    "stream",
    "streams",
    "synchronize",
    "tuning_stats",
]


_OF_INDUCTOR = ("CppWrapperCodegen", "PythonWrapperCodegen", "Scheduling", "WrapperFxCodegen")


def __getattr__(name: str) -> Any:
    if name == "default_generators":
        return _generators()
    if name in _OF_INDUCTOR:
        from dl_core.torch_backend import inductor  # imports modules that only Inductor needs

        return getattr(inductor, name)
    found = legacy_class(name)
    if found is None:
        from dl_core.torch_backend.refused import refusal  # rarely needed

        raise AttributeError(refusal(name) or f"module 'torch.dl' has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return [*__all__, "default_generators", *STORAGES, *TENSORS]


# `from torch.dl.amp import GradScaler` looks up the module under this name.
for _part in (amp, memory, random, streams):
    sys.modules[f"torch.dl.{_part.__name__.rpartition('.')[2]}"] = _part

# Dynamo looks for the result of `torch.get_device_module` as an attribute of torch with this name.
__name__ = "torch.dl"

# Activation checkpointing saves and restores generators only for devices that have this function.
_initialized = True

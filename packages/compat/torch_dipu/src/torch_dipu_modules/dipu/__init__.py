"""DIPU's functions for devices, streams, memory and random numbers, taken from ``torch.dl``."""

from __future__ import annotations

from typing import Any

import torch

from . import device

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "devicectx",
    "diputype",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "is_available",
    "is_current_stream_capturing",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_sync_debug_mode",
    "stream",
    "synchronize",
    "vendor_type",
]

diputype = device.__diputype__
vendor_type = device.__vendor__


def __getattr__(name: str) -> Any:
    module: Any = torch.dl  # type: ignore[attr-defined]
    if name == "devicectx":
        return module.device
    if name.startswith("__") or not hasattr(module, name):
        raise AttributeError(
            f"module 'torch_dipu.dipu' has no attribute {name!r}; it has the names of torch.dl, "
            f"devicectx, diputype and vendor_type"
        )
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

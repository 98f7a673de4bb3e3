"""Properties of a vendor's devices."""

from __future__ import annotations

from dataclasses import dataclass

from .._native import text
from ..dtypes import DTYPES
from .cabi import ffi
from .instance import Instance
from .tableinstance import TableInstance


@dataclass(frozen=True)
class DeviceProperties:
    """Properties of one device. Fields that the vendor does not know are 0 or empty."""

    name: str
    total_memory: int
    """Bytes."""
    major: int
    minor: int
    """Architecture version, defined by the vendor."""
    multiprocessor_count: int
    warp_size: int
    dtypes: frozenset[str]
    """Dtypes that are supported for computations."""
    architecture: str
    allocation_padding: int = 0
    """Bytes without data that the device needs behind each block of memory."""


def read_properties(instance: Instance, device: int) -> DeviceProperties:
    """Read the properties of a device; fields that the vendor does not set are 0 or empty.

    :raises ArgumentError: there is no such device.
    """
    instance.check_device(device, "device_properties")
    raw = ffi.new("dl_device_properties_t*")
    raw.struct_size = ffi.sizeof("dl_device_properties_t")
    if isinstance(instance, TableInstance) and instance.slots.has("device_properties"):
        instance.slots.call("device_properties", device, raw)
    return DeviceProperties(
        name=text(raw.name) or instance.name,
        total_memory=raw.total_memory,
        major=raw.major,
        minor=raw.minor,
        multiprocessor_count=raw.multiprocessor_count,
        warp_size=raw.warp_size,
        dtypes=frozenset(n for n, d in DTYPES.items() if raw.dtype_mask >> d.number & 1),
        architecture=text(raw.architecture),
        allocation_padding=raw.allocation_padding,
    )

"""Checks of devices and their properties."""

from __future__ import annotations

from functools import partial

from diopi_proto import Vendor
from diopi_proto.host.devices import DeviceProperties

from .check import SkipError, check, offered, require


@check("a driver and a device are present")
def present(vendor: Vendor) -> None:
    require(vendor.present, "the table reports that no device is present, but cases run on one")
    require(vendor.device_count >= 1, f"the number of devices is {vendor.device_count}")


@check("every device has a name, memory and dtypes")
def properties(vendor: Vendor) -> None:
    # Properties that a host assumes without the slot.
    unknown = DeviceProperties(vendor.name, 0, 0, 0, 0, 0, frozenset(), "")
    for device in range(vendor.device_count):
        found = offered("device_properties", partial(vendor.properties, device))
        if found == unknown:
            raise SkipError("device_properties is optional, and the library reports no properties")
        require(found.name.strip(), f"device {device} has no name")
        require(found.total_memory > 0, f"device {device} reports no memory")
        require(found.dtypes, f"device {device} reports no dtype")


@check("free memory is at most total memory")
def memory_info(vendor: Vendor) -> None:
    free, total = offered("memory_info", lambda: vendor.memory_info(0))
    require(0 <= free <= total, f"{free} bytes are free of {total}")
    require(total > 0, "memory_info reports no memory")

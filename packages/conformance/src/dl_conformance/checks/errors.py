"""Checks of error paths: invalid devices are refused with a reason."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from diopi_proto import Vendor, VendorError
from diopi_proto.errors import DiopiError
from diopi_proto.host.cabi import constants, ffi

from .check import check, require

_WITHOUT_MESSAGE = "gave no reason"
"""Words of the host for a status without a message."""


def _calls(device: int) -> dict[str, Sequence[Any]]:
    """Return the arguments of slots that take a device and change nothing if they succeed."""
    out, properties = ffi.new("void**"), ffi.new("dl_device_properties_t*")
    properties.struct_size = ffi.sizeof("dl_device_properties_t")
    return {
        "device_properties": (device, properties),
        "memory_info": (device, ffi.new("uint64_t*"), ffi.new("uint64_t*")),
        "memory_allocate": (device, 64, out),
        "stream_create": (device, 0, out),
        "event_create": (device, 0, out),
    }


@check("a device that does not exist is refused with a reason")
def no_such_device(vendor: Vendor) -> None:
    slots = vendor.slots
    for device in (-1, vendor.device_count):
        for slot, arguments in _calls(device).items():
            if not slots.has(slot):
                continue
            try:
                slots.call(slot, *arguments)
            except VendorError as error:
                require(
                    _WITHOUT_MESSAGE not in str(error),
                    f"{slot} refuses device {device} without a message",
                )
                require(
                    error.code != constants.DL_OUT_OF_MEMORY,
                    f"{slot} reports exhausted memory for device {device}, which does not exist",
                )
            else:
                require(False, f"{slot} succeeds for device {device}, which does not exist")


@check("an error is reported to the call that failed alone")
def error_is_not_repeated(vendor: Vendor) -> None:
    slots = vendor.slots
    with contextlib.suppress(VendorError):
        slots.call("memory_allocate", *_calls(vendor.device_count)["memory_allocate"])
    try:
        vendor.empty((64,), "uint8").numpy()
        vendor.synchronize()
    except DiopiError as error:
        require(False, f"a valid call after a refused one fails: {error}")

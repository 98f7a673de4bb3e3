"""Constant memory: the program promises not to change it, so that vendors can cache
derived data."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from . import devices, tuning

if TYPE_CHECKING:
    from diopi_proto.constants import Constants


def extension(index: int) -> tuple[Constants, int] | None:
    """Return the constants extension (``dl/constants.h``) of ``dl:index`` and the vendor's own
    index of that device; None if the vendor does not implement it.
    """
    device = devices.get_device_properties(index)
    found = _of_vendor(device.vendor)
    return None if found is None else (found, device.vendor_device)


@functools.cache
def _of_vendor(vendor: str) -> Constants | None:
    # cffi, which few programs need.
    from diopi_proto.constants import Constants

    return Constants.of_address(tuning.handle(vendor), vendor)

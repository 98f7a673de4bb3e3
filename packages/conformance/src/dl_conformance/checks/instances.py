"""Checks of instances: several hosts can use a library in one process."""

from __future__ import annotations

import numpy as np

from diopi_proto import Vendor, load_vendor

from .check import check, require
from .memory import pattern

SIZE = 1000


@check("instances of several hosts do not interfere")
def separate(vendor: Vendor) -> None:
    wanted = pattern(SIZE, "instance")
    tensor = vendor.tensor(wanted)
    with load_vendor(vendor.path) as other:
        require(
            other.device_count == vendor.device_count,
            f"a second instance reports {other.device_count} devices, the first reports "
            f"{vendor.device_count}",
        )
        theirs = pattern(SIZE, "another instance")
        require(
            np.array_equal(other.tensor(theirs).numpy(), theirs),
            "elements differ after a round trip in a second instance",
        )
    require(
        np.array_equal(tensor.numpy(), wanted),
        "a tensor changed when another instance was used and destroyed",
    )
    again = pattern(SIZE, "instance again")
    require(
        np.array_equal(vendor.tensor(again).numpy(), again),
        "elements differ after a round trip when another instance was destroyed",
    )

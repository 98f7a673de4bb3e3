"""Child processes for the tests of this vendor."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from dl_vendor_opencl.plugin import dl_vendor

KIT = Path(__file__).parents[2] / "vendor-kit"
sys.path.insert(0, str(KIT))

from driver_tests import processes  # noqa: E402 - found through sys.path

SETTINGS = ("DL_OPENCL_", "DL_VENDORS", "OCL_ICD_")
_PROCESSES = processes.Processes("opencl", SETTINGS)
run, run_on_vendor, doctor = _PROCESSES.run, _PROCESSES.run_on_vendor, _PROCESSES.doctor
DRIVERS = {
    name: value
    for name, value in os.environ.items()
    if name.startswith(("DL_OPENCL_DRIVER", "OCL_ICD_"))
}
"""Variables that select the drivers of this run of the tests."""


@dataclass(frozen=True)
class Vendor:
    """The vendor on real devices."""

    variables: Mapping[str, str] = field(default_factory=dict)

    def run_on_vendor(self, code: str, **variables: str) -> str:
        """Run code that uses ``vendor``, this vendor in dl-diopi-proto's host."""
        return run_on_vendor(code, **{**DRIVERS, **self.variables, **variables})

    def run(self, code: str, **variables: str) -> str:
        """Run code in which ``dl`` is this vendor."""
        return run(code, **{**DRIVERS, **self.variables, "DL_VENDORS": "opencl", **variables})


@cache
def device_count() -> int:
    """Return the number of devices with the drivers of this run."""
    return int(run_on_vendor("print(vendor.device_count)", **DRIVERS).split()[0])


def library() -> Path:
    """Return the path of the library under test."""
    return dl_vendor().library

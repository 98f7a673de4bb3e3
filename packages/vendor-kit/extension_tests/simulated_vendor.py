"""A vendor on a fake driver, as the tests in this folder expect it.

Each module here has the tests of one extension. A vendor's tests import them: the fixture
``simulated_vendor`` in its conftest.py is the vendor, and ``compiling`` the vendor with a
compiler of kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from driver_tests.processes import Processes

V = TypeVar("V", bound="SimulatedVendor")

DEVICE_NAMES = ("Fake 0", "dl-gpu-sim", "Ascend910B3", "Cambricon MLU (ISA 592)")
"""Names that fake drivers give to their first device."""


@dataclass(frozen=True)
class SimulatedVendor:
    """How to run code on the vendor, and the variables that configure its fake driver."""

    processes: Processes
    devices: Callable[[int], dict[str, str]]
    """Return the variables for a number of devices."""
    fails: Mapping[str, Mapping[str, str]]
    """Variables that inject a failure into a driver call, by its name in the kit's Api."""
    variables: Mapping[str, str] = field(default_factory=dict)
    out_of_memory: int = 2
    """The driver's error for a full device."""
    lost_device: int = 719
    """The driver's error of the failure ``"wait"``."""
    unreduced: str = "int16"
    """A dtype that the library of collectives does not reduce."""
    averages: bool = True
    """The library of collectives has averages."""

    def run_on_vendor(self, code: str) -> str:
        """Run code that uses ``vendor``, this vendor in dl-diopi-proto's host."""
        return self.processes.run_on_vendor(code, **self.variables)

    def run(self, code: str) -> str:
        """Run code in which ``dl`` is this vendor."""
        return self.processes.run(code, **{"DL_VENDORS": self.processes.vendor, **self.variables})

    def doctor(self) -> dict[str, Any]:
        return self.processes.doctor(**self.variables)

    def with_variables(self: V, **variables: str) -> V:
        """Return a copy with more variables."""
        return replace(self, variables={**self.variables, **variables})

    def with_devices(self: V, count: int) -> V:
        return self.with_variables(**self.devices(count))

    def with_failure(self: V, call: str) -> V:
        return self.with_variables(**self.fails[call])

"""A vendor on a fake driver, as the tests in this folder expect it.

Each module here has the tests of one extension. A vendor's tests import them: the fixture
``simulated_vendor`` in its conftest.py is the vendor, and ``compiling`` the vendor with a
compiler of kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class SimulatedVendor:
    """How to run code on the vendor, and the variables that configure its fake driver."""

    vendor: str
    """The vendor's name in DL_VENDORS."""
    library: str
    """Path of the vendor's library."""
    python_runner: Callable[..., str]
    """Run Python code and return its output; ``run`` in the tests' processes.py."""
    vendor_runner: Callable[..., str]
    """The same for code that uses the variable ``vendor``."""
    devices: Callable[[int], dict[str, str]]
    """Variables for a number of devices."""
    fails: Mapping[str, Mapping[str, str]]
    """Variables that inject a failure into a driver call, by its name in the kit's Api."""
    variables: Mapping[str, str] = field(default_factory=dict)

    def run_on_vendor(self, code: str) -> str:
        return self.vendor_runner(code, **self.variables)

    def run(self, code: str) -> str:
        """Run code in which ``dl`` is this vendor."""
        return self.python_runner(code, **self.variables, DL_VENDORS=self.vendor)

    def with_variables(self, **variables: str) -> SimulatedVendor:
        """Return a copy with more variables."""
        return replace(self, variables={**self.variables, **variables})

    def with_devices(self, count: int) -> SimulatedVendor:
        return self.with_variables(**self.devices(count))

    def with_failure(self, call: str) -> SimulatedVendor:
        return self.with_variables(**self.fails[call])

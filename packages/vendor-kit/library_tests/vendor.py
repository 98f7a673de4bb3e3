"""A vendor with a fake matrix or convolution library, as the tests in this folder expect it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from extension_tests.simulated_vendor import SimulatedVendor


@dataclass(frozen=True)
class LibraryVendor(SimulatedVendor):
    """A vendor with a fake library, and the calls of the library, which the fake logs."""

    prefix: str = ""
    """Prefix of the library's functions, such as ``"cublasLt"``."""
    computing: str = ""
    """The logged call that computes."""
    log: Path = Path()
    """The log file of the fake."""

    @staticmethod
    def of(
        vendor: SimulatedVendor, prefix: str, computing: str, library: str, log: Path
    ) -> LibraryVendor:
        """Return the vendor with a fake library, whose path the vendor's variable for it names."""
        name = prefix.upper()
        own = {f"DL_{vendor.processes.vendor.upper()}_{name}": library}
        variables = {**vendor.variables, **own, f"FAKE_{name}_CALLS": str(log)}
        common = {each.name: getattr(vendor, each.name) for each in fields(SimulatedVendor)}
        return LibraryVendor(
            **{**common, "variables": variables}, prefix=prefix, computing=computing, log=log
        )

    def without_libraries(self) -> LibraryVendor:
        """Return the same vendor with its own kernels only."""
        return self.with_variables(**{f"DL_{self.processes.vendor.upper()}_LIBRARIES": "off"})

    def failing(self, calls: str) -> LibraryVendor:
        """Return the same vendor whose library fails in these calls: ``"cublasLtCreate:3"``."""
        return self.with_variables(**{f"FAKE_{self.prefix.upper()}_FAIL": calls})

    @property
    def calls(self) -> list[str]:
        """The logged calls of all runs so far."""
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    @property
    def done(self) -> list[str]:
        """The logged arguments of the calls that compute."""
        named = (call.partition(" ") for call in self.calls)
        return [output for name, _, output in named if name == self.computing]

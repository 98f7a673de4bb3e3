"""The constants extension: memory that does not change, whose derived data a vendor may cache.

A typical use is prepacked weights. Other hosts import this module during program startup, so it
imports little.
"""

from __future__ import annotations

from dataclasses import dataclass

from ._ffi_gen import ffi
from .linked import LinkedExtension


@dataclass(frozen=True)
class ConstantsStatistics:
    """Declared ranges of the process, and the data that the vendor has cached for them."""

    ranges: int
    bytes: int
    kept: int
    kept_bytes: int


class Constants(LinkedExtension):
    """The constants extension of one vendor; :attr:`diopi_proto.Vendor.constants`."""

    NAME = "constants"

    def declare(self, memory: int, size: int, device: int = 0) -> None:
        """Declare a range of memory as constant.

        A range that is declared twice must be forgotten twice.

        :raises VendorError: the address or the size is 0.
        """
        self._call("declare", device, ffi.cast("void*", memory), size)

    def forget(self, memory: int, size: int, device: int = 0) -> None:
        """Withdraw a declaration: before the memory is freed, or after it was written to. No call
        may be using the range.

        :raises VendorError: exactly this range was not declared.
        """
        self._call("forget", device, ffi.cast("void*", memory), size)

    def use(self, on: bool, device: int = 0) -> None:
        """Set whether later calls of this thread use constants.

        The caller guarantees that no declared range has been written to.
        """
        self._call("use", device, int(on))

    def statistics(self, device: int = 0) -> ConstantsStatistics:
        """Return the current declarations and the size of the cache."""
        raw = ffi.new("dl_constants_statistics_t*")
        raw.struct_size = ffi.sizeof("dl_constants_statistics_t")
        self._call("statistics", device, raw)
        return ConstantsStatistics(
            int(raw.ranges), int(raw.bytes), int(raw.kept), int(raw.kept_bytes)
        )

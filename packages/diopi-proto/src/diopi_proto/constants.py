"""The constants extension: memory that stays what it is, of which a vendor may keep what it makes.

Other hosts use it while a program waits, so it imports little.
"""

from __future__ import annotations

from dataclasses import dataclass

from ._ffi_gen import ffi
from .linked import LinkedExtension


@dataclass(frozen=True)
class ConstantsStatistics:
    """What is declared now, in all of the process, and what the vendor has made of it."""

    ranges: int
    bytes: int
    kept: int
    kept_bytes: int


class Constants(LinkedExtension):
    """The constants extension of one vendor; :attr:`diopi_proto.Vendor.constants`."""

    NAME = "constants"

    def declare(self, memory: int, size: int, device: int = 0) -> None:
        """Say that so many bytes from an address on are constant from now on.

        What is declared twice is to be forgotten twice.

        :raises VendorError: the address is 0, or the size.
        """
        self._call("declare", device, ffi.cast("void*", memory), size)

    def forget(self, memory: int, size: int, device: int = 0) -> None:
        """Take a declaration back, before the memory is freed or when something has written to it,
        and while no call uses it.

        :raises VendorError: this very range was not declared.
        """
        self._call("forget", device, ffi.cast("void*", memory), size)

    def use(self, on: bool, device: int = 0) -> None:
        """Say whether the calls that this thread makes from now on use constants.

        Who uses them has seen that no declared range has been written to.
        """
        self._call("use", device, int(on))

    def statistics(self, device: int = 0) -> ConstantsStatistics:
        """Return the current declarations."""
        raw = ffi.new("dl_constants_statistics_t*")
        raw.struct_size = ffi.sizeof("dl_constants_statistics_t")
        self._call("statistics", device, raw)
        return ConstantsStatistics(
            int(raw.ranges), int(raw.bytes), int(raw.kept), int(raw.kept_bytes)
        )

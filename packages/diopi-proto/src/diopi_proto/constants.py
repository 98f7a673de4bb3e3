"""The constants extension: memory that stays what it is, of which a vendor may keep what it makes.

Other hosts use it while a program waits, so it imports little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._ffi_gen import ffi
from .linked import slots_of

_names: Any = ffi.dlopen(None)


@dataclass(frozen=True)
class ConstantsStatistics:
    """What is declared now, in all of the process, and what the vendor has made of it."""

    ranges: int
    bytes: int
    kept: int
    kept_bytes: int


class Constants:
    """The constants extension of one vendor; :attr:`diopi_proto.Vendor.constants`."""

    def __init__(self, call: Callable[..., None]) -> None:
        """``call(slot, *arguments)`` calls a slot of the extension, and raises what it returns."""
        self._call = call

    @classmethod
    def of_address(cls, address: int, vendor: str) -> Constants | None:
        """Of an instance that another host in this process has loaded and checked; None without
        the extension.

        :param address: of its ``dl_vendor_t``, which lives longer than this object.
        """
        call = slots_of(address, vendor, _names.DL_EXT_CONSTANTS, "constants")
        return None if call is None else cls(call)

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
        """What is declared now."""
        raw = ffi.new("dl_constants_statistics_t*")
        raw.struct_size = ffi.sizeof("dl_constants_statistics_t")
        self._call("statistics", device, raw)
        return ConstantsStatistics(
            int(raw.ranges), int(raw.bytes), int(raw.kept), int(raw.kept_bytes)
        )

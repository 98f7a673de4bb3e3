"""Calls of a vendor's extension, on an instance that this host or another host has loaded.

Other hosts import this module during program startup, so it imports little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ._ffi_gen import ffi
from .header_constants import HeaderConstants

if TYPE_CHECKING:
    from typing_extensions import Self

_constants = HeaderConstants(ffi)


class LinkedExtension:
    """Base of classes whose methods call the slots of one extension."""

    NAME: ClassVar[str]
    """Name as in ``dl_<NAME>_extension_t`` and ``DL_EXT_<NAME>``."""

    def __init__(self, call: Callable[..., None]) -> None:
        """Create from ``call(slot, *arguments)``, which calls a slot and raises for a status."""
        self._call = call

    @classmethod
    def of_address(cls, address: int, vendor: str) -> Self | None:
        """Return the extension of an instance that another host in this process has loaded and
        checked; None if the instance does not have it.

        :param address: address of its ``dl_vendor_t``, which outlives this object.
        :param vendor: name of the vendor, for messages.
        """
        instance = ffi.cast("dl_vendor_t*", address)
        kind = getattr(_constants, f"DL_EXT_{cls.NAME.upper()}")
        link = instance.table.extensions
        while link != ffi.NULL and link.type != kind:
            link = link.next
        if link == ffi.NULL:
            return None
        table = ffi.cast(f"dl_{cls.NAME}_extension_t*", link)

        def call(slot: str, *arguments: Any) -> None:
            status = getattr(table, slot)(instance, *arguments)
            if status != ffi.NULL:
                # Imported here, because the import takes a while.
                from .host.structs import raise_status

                raise_status(status, f"{cls.NAME}.{slot}", vendor)

        return cls(call)

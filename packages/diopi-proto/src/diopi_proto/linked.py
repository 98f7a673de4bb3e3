"""An extension of a vendor, called by this host or on an instance that another one has loaded.

Other hosts use these while a program waits, so it imports little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ._ffi_gen import ffi

if TYPE_CHECKING:
    from typing_extensions import Self

_constants: Any = ffi.dlopen(None)


class LinkedExtension:
    """Functions that call the slots of one extension of one vendor."""

    NAME: ClassVar[str]
    """As in ``dl_<NAME>_extension_t`` and ``DL_EXT_<NAME>``."""

    def __init__(self, call: Callable[..., None]) -> None:
        """``call(slot, *arguments)`` calls a slot of the extension, and raises what it returns."""
        self._call = call

    @classmethod
    def of_address(cls, address: int, vendor: str) -> Self | None:
        """Of an instance that another host in this process has loaded and checked; None without
        the extension.

        :param address: of its ``dl_vendor_t``, which lives longer than this object.
        :param vendor: for messages.
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
                # All that a host needs; its import takes a while.
                from .host.structs import raise_status

                raise_status(status, f"{cls.NAME}.{slot}", vendor)

        return cls(call)

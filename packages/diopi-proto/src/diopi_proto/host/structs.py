"""Calls of slots of a vendor's table, and conversion of their statuses to exceptions."""

from __future__ import annotations

from typing import Any, Protocol

from .._native import text
from ..errors import (
    NotSupportedError,
    OutOfMemoryError,
    UnavailableError,
    VendorError,
)
from .cabi import constants, ffi

CData = Any
"""A cffi object; cffi has no static types."""

_ERRORS: dict[int, type[VendorError]] = {
    constants.DL_OUT_OF_MEMORY: OutOfMemoryError,
    constants.DL_NOT_SUPPORTED: NotSupportedError,
    constants.DL_UNAVAILABLE: UnavailableError,
}


class Slots(Protocol):
    """Calls of slots by name."""

    def has(self, slot: str) -> bool:
        """Return True if the vendor fills the slot."""

    def call(self, slot: str, *arguments: Any) -> None:
        """Call a slot with its arguments after the instance.

        :raises NotSupportedError: the slot is empty.
        :raises VendorError: the slot returned a status.
        """


def address(pointer: CData) -> int:
    """Return a pointer as an integer."""
    return int(ffi.cast("uintptr_t", pointer))


def raise_status(status: CData, slot: str, vendor: str) -> None:
    """Raise the exception for a status of a checked vendor, and release the status; NULL is
    success.

    :raises VendorError: or a subclass, according to the status's code.
    """
    if status == ffi.NULL:
        return
    code, message, operation = int(status.code), text(status.message), text(status.operation)
    details = ffi.string(status.details).decode() if status.details != ffi.NULL else ""
    status.release(status)
    where = f" ({operation})" if operation else ""
    raise _ERRORS.get(code, VendorError)(
        f"[{slot}] {message}{where} (vendor {vendor})",
        code=code,
        operation=operation or slot,
        vendor=vendor,
        details=details,
    )


class TableSlots:
    """Slots of a checked vendor, or of one of its extensions; NULL slots are missing.

    :param table: pointer to the struct with the slots.
    :param extension: name of the extension, a prefix of slot names in messages.
    """

    def __init__(self, instance: CData, table: CData, vendor: str, extension: str = "") -> None:
        self._instance = instance
        self._vendor = vendor
        self._prefix = f"{extension}." if extension else ""
        self._functions: dict[str, CData] = {}
        for field, declared in ffi.typeof(table).item.fields:
            if declared.type.kind == "function":
                function = getattr(table, field)
                if function != ffi.NULL:
                    self._functions[field] = function

    def has(self, slot: str) -> bool:
        return slot in self._functions

    def raw(self, slot: str, *arguments: Any) -> CData:
        """Call a slot that returns no status. The slot must exist."""
        return self._functions[slot](self._instance, *arguments)

    def call(self, slot: str, *arguments: Any) -> None:
        function = self._functions.get(slot)
        slot = self._prefix + slot
        if function is None:
            raise NotSupportedError(
                f"[{slot}] vendor {self._vendor} does not support this; a newer release of it may",
                code=constants.DL_NOT_SUPPORTED,
                operation=slot,
                vendor=self._vendor,
            )
        raise_status(function(self._instance, *arguments), slot, self._vendor)

"""An extension of an instance that another host in this process has loaded and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._ffi_gen import ffi


def slots_of(address: int, vendor: str, kind: int, name: str) -> Callable[..., None] | None:
    """What calls a slot by its name, and raises what it returns; None without the extension.

    :param address: of its ``dl_vendor_t``, which lives longer than what is returned.
    :param vendor: for messages.
    :param kind: the type in the chain, one of ``DL_EXT_*``, of the extension called ``name``.
    """
    instance = ffi.cast("dl_vendor_t*", address)
    link = instance.table.extensions
    while link != ffi.NULL and link.type != kind:
        link = link.next
    if link == ffi.NULL:
        return None
    table = ffi.cast(f"dl_{name}_extension_t*", link)

    def call(slot: str, *arguments: Any) -> None:
        status = getattr(table, slot)(instance, *arguments)
        if status != ffi.NULL:
            # All that a host needs; its import takes a while.
            from .host.structs import raise_status

            raise_status(status, f"{name}.{slot}", vendor)

    return call

"""Instance of a library that exports ``dl_vendor_v1``."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from .._native import native, text
from ..adaptor import AdaptorFile
from ..adaptor.native import Adaptor
from ..added import AddedLayer, AddedLibrary
from ..errors import AbiMismatchError, NotSupportedError, VendorLoadError
from ..legacy import LegacyOperators
from ..schema import Operator, load
from ..vendorbuild.rules import ENTRY_SYMBOL
from .cabi import ffi
from .device_errors import DeviceErrors
from .extensions import read_extensions
from .hosttable import HostTable
from .instance import HOST_TO_DEVICE, SYNCHRONOUS, Instance
from .structs import CData, TableSlots, raise_status


class TableInstance(Instance):
    """Create an instance of an opened library and read its table.

    :param rules: parsed adaptor file of the vendor.
    :param legacy: operators of a library in DIOPI's own style, which replace the table's operators.
    :param added: libraries with operators that are called before the vendor's own.
    :raises AbiMismatchError: the library violates the interface.
    :raises VendorError: the library refuses to create an instance.
    """

    def __init__(
        self,
        library: CData,
        path: Path,
        host: HostTable,
        rules: AdaptorFile | None = None,
        legacy: LegacyOperators | None = None,
        added: Sequence[AddedLibrary] = (),
    ) -> None:
        opened = ffi.new("dl_opened_t*")
        entry = ffi.cast("dl_vendor_entry_v1_t", ffi.addressof(library, ENTRY_SYMBOL))
        status = native().dl_checked_open(entry, host.pointer, opened)
        raise_status(status, ENTRY_SYMBOL, path.name)
        defect = text(opened.defect)
        if defect:
            raise AbiMismatchError(
                f"{path}: {ENTRY_SYMBOL} {defect}. The library violates the vendor interface; "
                "ask its maintainers for a corrected release."
            )
        self.host = host
        self.handle = opened.vendor
        self._library = library  # the code must stay loaded while the instance lives
        checked = opened.checked
        self.name = text(checked.table.name)
        self.version = text(checked.table.version)
        self.capabilities = int(checked.table.capabilities)
        self.slots = TableSlots(checked, checked.table, self.name)
        self.extensions = read_extensions(checked, self.name)
        # Local variables, so that end() holds no reference to `self`, which would keep it alive.
        destroy, errors = checked.table.destroy, DeviceErrors(self.slots, self.name)
        self.adaptor = None if rules is None else Adaptor(rules)
        own = legacy or self.adaptor
        self.added = _added_layer(added, own) if added else None
        self._layer = self.added or own
        layers = [layer for layer in (self.added, own) if layer is not None]

        def end() -> None:
            errors.release()
            destroy(checked)
            for layer in layers:
                layer.end()

        super().__init__(end)
        self.device_errors = None if self.can(SYNCHRONOUS) else errors
        self._count: int | None = None
        self._padding: dict[int, int] = {}
        self.mismatched = {}
        self.unknown: frozenset[str] = frozenset()
        self._functions: dict[str, CData] = {}
        self._read_operators(checked)

    def _read_operators(self, checked: CData) -> None:
        first, count = ffi.new("dl_operator_t**"), ffi.new("uint64_t*")
        if self.slots.has("operators"):
            self.slots.call("operators", first, count)
        if self._layer is not None:
            pointer = self._layer.pointer
            status = pointer.bind(pointer, self.handle, checked, first[0], count[0], first)
            raise_status(status, "operators", self.name)
            if pointer.bound_count != ffi.NULL:
                count[0] = pointer.bound_count(pointer)
        schema, unknown = load(), set()
        for index in range(count[0]):
            entry = first[0][index]
            name = text(entry.name)
            operator = schema.get(name)
            if operator is None:
                unknown.add(name)
            elif entry.fingerprint != operator.fingerprint:
                self.mismatched[name] = (
                    f"vendor {self.name} {self.version} has {name} with fingerprint "
                    f"{entry.fingerprint:#018x}, this host has {operator.fingerprint:#018x}: they "
                    "were built for different signatures. Install releases of the vendor and of "
                    "dl-diopi-proto that belong together."
                )
            elif entry.function != ffi.NULL:
                self._functions.setdefault(name, entry.function)
        self.unknown = frozenset(unknown)

    def device_count(self) -> int:
        if self._count is None:
            # Counting devices may initialize a driver; `present` avoids that on machines without a
            # device.
            if not self.slots.has("device_count") or not self.present():
                return 0
            count = ffi.new("int32_t*")
            self.slots.call("device_count", count)
            self._count = int(count[0])
        return self._count

    def present(self) -> bool:
        """Return True if a driver and a device seem to be present; initialize neither."""
        if not self.slots.has("present"):
            return True
        found = ffi.new("int32_t*")
        self.slots.call("present", found)
        return bool(found[0])

    def allocate(self, device: int, count: int) -> int:
        memory = ffi.new("void**")
        self.slots.call("memory_allocate", device, count, memory)
        return int(ffi.cast("uintptr_t", memory[0]))

    def padding(self, device: int) -> int:
        if device not in self._padding:
            raw = ffi.new("dl_device_properties_t*")
            raw.struct_size = ffi.sizeof("dl_device_properties_t")
            if self.slots.has("device_properties"):
                with contextlib.suppress(NotSupportedError):
                    self.slots.call("device_properties", device, raw)
            self._padding[device] = int(raw.allocation_padding)
        return self._padding[device]

    def free(self, device: int, address: int) -> None:
        self.slots.call("memory_free", device, ffi.cast("void*", address))

    def copy(self, device: int, destination: int, source: int, count: int, kind: int) -> None:
        self.slots.call(
            "memory_copy",
            device,
            ffi.cast("void*", destination),
            ffi.cast("void*", source),
            count,
            kind,
            ffi.NULL,
        )
        # The vendor may have staged an upload, and other streams do not wait for the default
        # stream.
        if kind == HOST_TO_DEVICE and not self.can(SYNCHRONOUS):
            self.synchronize_stream(device, ffi.NULL)

    def synchronize_stream(self, device: int, stream: CData) -> None:
        if self.slots.has("stream_synchronize"):
            self.slots.call("stream_synchronize", device, stream)
        else:
            self.slots.call("device_synchronize", device)

    def make_current(self, device: int) -> None:
        if self.slots.has("device_set"):
            self.slots.call("device_set", device)

    def function(self, operator: Operator) -> CData | None:
        return self._functions.get(operator.name)

    def has(self, operator: str) -> bool:
        return operator in self._functions

    def last_error(self, operator: str) -> str:
        if self._layer is not None and (reason := self._layer.last_error(operator)):
            return reason
        return text(self.slots.raw("last_error")) if self.slots.has("last_error") else ""


def _added_layer(
    libraries: Sequence[AddedLibrary], own: LegacyOperators | Adaptor | None
) -> AddedLayer:
    layer = AddedLayer(libraries, ffi.NULL if own is None else own.pointer)
    for library, reason in layer.problems:
        layer.end()
        raise VendorLoadError(f"operators {library.label} cannot be added: {reason}")
    return layer

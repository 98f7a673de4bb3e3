"""An instance behind ``dl_vendor_v1``."""

from __future__ import annotations

from pathlib import Path

from ..errors import AbiMismatchError, VendorError
from ..schema import Operator, load
from .cabi import constants, ffi
from .hosttable import HostTable
from .instance import Instance
from .structs import CData, TableSlots, raise_status, reaches, text


class TableInstance(Instance):
    """Create an instance of an opened library and read its table.

    :raises AbiMismatchError: the library breaks the interface.
    :raises VendorError: the library refuses.
    """

    def __init__(self, library: CData, path: Path, host: HostTable) -> None:
        out = ffi.new("dl_vendor_t**")
        raise_status(library.dl_vendor_v1(host.pointer, out), "dl_vendor_v1", path.name)
        self.host = host
        self.handle = out[0]
        self._library = library  # the code stays loaded while the instance lives
        table = _checked_table(self.handle, path)
        self.name = text(table.name)
        self.version = text(table.version)
        self.capabilities = int(table.capabilities)
        self.slots = TableSlots(self.handle, self.name)
        # Bound here, so that no reference to the instance keeps it alive.
        destroy, handle = table.destroy, self.handle
        super().__init__(lambda: destroy(handle))
        self._count: int | None = None
        self.mismatched = {}
        self.unknown: frozenset[str] = frozenset()
        self._functions: dict[str, CData] = {}
        self._read_operators()

    def _read_operators(self) -> None:
        if not self.slots.has("operators"):
            return
        first, count = ffi.new("dl_operator_t**"), ffi.new("uint64_t*")
        self.slots.call("operators", first, count)
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
            # The second one may start a driver, which the first one saves where there is none.
            if not self.slots.has("device_count") or not self.present():
                return 0
            count = ffi.new("int32_t*")
            self.slots.call("device_count", count)
            self._count = int(count[0])
        return self._count

    def present(self) -> bool:
        """Whether a driver and a device seem to be there; touches neither."""
        if not self.slots.has("present"):
            return True
        found = ffi.new("int32_t*")
        self.slots.call("present", found)
        return bool(found[0])

    def allocate(self, device: int, count: int) -> int:
        memory = ffi.new("void**")
        self.slots.call("memory_allocate", device, count, memory)
        if memory[0] == ffi.NULL:
            raise VendorError(
                f"[memory_allocate] vendor {self.name} reports success without memory "
                f"({count} bytes on device {device}); that is a defect of the vendor",
                code=constants.DL_ERROR,
                operation="memory_allocate",
                vendor=self.name,
            )
        return int(ffi.cast("uintptr_t", memory[0]))

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

    def synchronize_stream(self, device: int, stream: CData) -> None:
        if self.slots.has("stream_synchronize"):
            self.slots.call("stream_synchronize", device, stream)
        else:
            self.slots.call("device_synchronize", device)

    def function(self, operator: Operator) -> CData | None:
        return self._functions.get(operator.name)

    def has(self, operator: str) -> bool:
        return operator in self._functions

    def last_error(self) -> str:
        return text(self.slots.raw("last_error")) if self.slots.has("last_error") else ""


def _checked_table(handle: CData, path: Path) -> CData:
    def broken(what: str) -> AbiMismatchError:
        return AbiMismatchError(
            f"{path}: dl_vendor_v1 {what}. The library breaks the vendor interface; "
            "ask its maintainers for a release that keeps it."
        )

    if handle == ffi.NULL:
        raise broken("reports success but returns no instance")
    table = handle.table
    if table == ffi.NULL:
        raise broken("returns an instance without a table")
    if not reaches(table, "dl_vendor_table_t", "destroy"):
        raise broken(
            f"returns a table of {table.struct_size} bytes, too short for its first fields"
        )
    if ffi.NULL in (table.name, table.destroy):
        raise broken("returns a table without name or destroy")
    return table

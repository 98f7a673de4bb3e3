"""Instance of a library in DIOPI's own style: operators are exported by name, without a table.

Such a library does not manage devices or memory: it gets one device with host memory. Its runtime
functions come from ``libdiopirt.so.1``, which is loaded globally (RTLD_GLOBAL) when the first
legacy library is opened. A legacy library has no fingerprints: the host assumes that its operators
have the signatures of the schema.
"""

from __future__ import annotations

from .._native import text
from ..elf import ElfFile
from ..errors import OutOfMemoryError
from ..inspection import LEGACY_NAMES
from ..loading import load_runtime
from ..schema import Operator, load
from .cabi import constants, ffi
from .hosttable import HostTable
from .instance import ANY_HOST_POINTER, HOST_ACCESSIBLE, SYNCHRONOUS, Instance
from .memory import HostMemory
from .structs import CData


class LegacyInstance(Instance):
    """Wrap an opened legacy library."""

    def __init__(self, library: CData, elf: ElfFile, host: HostTable) -> None:
        self.host = host
        self.handle = ffi.NULL
        self.capabilities = HOST_ACCESSIBLE | SYNCHRONOUS | ANY_HOST_POINTER
        self.mismatched = {}
        self._library = library
        self._runtime = load_runtime()
        self._exported = elf.exported & load().keys()
        self._strings: dict[str, CData] = {
            name: ffi.cast("const char*(*)(void)", ffi.addressof(library, name))
            for name in LEGACY_NAMES & elf.exported
        }
        self.name = self._string("diopiGetVendorName") or elf.path.stem
        self.version = self._string("diopiGetImplVersion")
        self._memory = HostMemory()
        super().__init__(lambda: None)

    def _string(self, name: str) -> str:
        function = self._strings.get(name)
        return text(function()) if function else ""

    def device_count(self) -> int:
        return 1

    def allocate(self, device: int, count: int) -> int:
        try:
            return self._memory.allocate(count)
        except MemoryError as error:
            raise OutOfMemoryError(
                f"[allocate] out of host memory: cannot allocate {count} bytes",
                code=constants.DL_OUT_OF_MEMORY,
                operation="allocate",
                vendor=self.name,
            ) from error

    def free(self, device: int, address: int) -> None:
        self._memory.free(address)

    def copy(self, device: int, destination: int, source: int, count: int, kind: int) -> None:
        ffi.memmove(ffi.cast("char*", destination), ffi.cast("char*", source), count)

    def synchronize_stream(self, device: int, stream: CData) -> None:
        """Do nothing: all work is synchronous."""

    def function(self, operator: Operator) -> CData | None:
        if operator.name not in self._exported:
            return None
        return ffi.cast("dl_function_t", ffi.addressof(self._library, operator.name))

    def has(self, operator: str) -> bool:
        return operator in self._exported

    def last_error(self, operator: str) -> str:
        return self._string("diopiGetLastErrorString")

    def enter(self, context: CData) -> CData:
        return self._runtime.diopirt_set_current_context(context)

    def leave(self, before: CData) -> None:
        self._runtime.diopirt_set_current_context(before)

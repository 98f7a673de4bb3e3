"""The ``dl_host_t`` that this host passes to the vendors that it loads."""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

from .._native import text
from .._version import __version__
from .cabi import constants, ffi
from .memory import HostMemory
from .structs import CData

_log = logging.getLogger("diopi_proto.vendor")
_LEVELS = {
    constants.DL_LOG_DEBUG: logging.DEBUG,
    constants.DL_LOG_INFO: logging.INFO,
    constants.DL_LOG_WARNING: logging.WARNING,
    constants.DL_LOG_ERROR: logging.ERROR,
}


def report_callback_failure(kind: Any, error: BaseException, trace: Any) -> None:
    """Report an exception in a callback, which must not reach the vendor."""
    _log.error("a function of the host failed", exc_info=(kind, error, trace))


class HostTable:
    """A host table and its Python functions. It must outlive every instance created with it.

    :ivar tf32_products: vendors may round the factors of float32 matrix products to TF32 (11-bit
        significands). It may change at any time, like the two settings below.
    :ivar tf32_convolutions: vendors may round the factors of float32 convolutions in the same way.
    :ivar deterministic: vendors should choose deterministic algorithms.
    """

    def __init__(self) -> None:
        self.memory = HostMemory()
        self.tf32_products = False
        self.tf32_convolutions = False
        self.deterministic = False
        self._keep: list[CData] = []
        self.pointer: CData = ffi.new("dl_host_t*")
        self.pointer.struct_size = ffi.sizeof("dl_host_t")
        self.pointer.name = self._keep_alive(ffi.new("char[]", b"numpy"))
        self.pointer.version = self._keep_alive(ffi.new("char[]", __version__.encode()))
        self._set("allocate", self._allocate, ffi.NULL)
        self._set("deallocate", self._deallocate)
        self._set("log", self._write_log)
        self._set("parallel_for", self._parallel_for, constants.DL_ERROR)
        self._set("num_threads", self._num_threads, 1)
        exact = constants.DL_MATMUL_FLOAT32
        self._set("float32_matmul_precision", self._float32_matmul_precision, exact)
        self._set("float32_convolution_precision", self._float32_convolution_precision, exact)
        self._set("deterministic", self._deterministic, 0)

    def _keep_alive(self, value: CData) -> CData:
        self._keep.append(value)
        return value

    def _set(self, slot: str, function: Any, error: Any = None) -> None:
        kind = ffi.typeof(self.pointer).item
        declared = dict(kind.fields)[slot].type
        callback = ffi.callback(declared, function, error=error, onerror=report_callback_failure)
        setattr(self.pointer, slot, self._keep_alive(callback))

    def _allocate(self, host: CData, count: int, alignment: int) -> CData:
        try:
            return ffi.cast("void*", self.memory.allocate(count, alignment))
        except MemoryError:
            return ffi.NULL

    def _deallocate(self, host: CData, memory: CData) -> None:
        if memory != ffi.NULL and not self.memory.free(int(ffi.cast("uintptr_t", memory))):
            _log.error("a vendor freed host memory at %s that the host had not allocated", memory)

    def _write_log(self, host: CData, level: int, message: CData) -> None:
        _log.log(_LEVELS.get(level, logging.ERROR), "%s", text(message))

    def _parallel_for(
        self, host: CData, begin: int, end: int, grain: int, body: CData, argument: CData
    ) -> int:
        if begin < end:
            body(argument, begin, end)
        return 0

    def _num_threads(self, host: CData) -> int:
        return 1

    def _float32_matmul_precision(self, host: CData) -> int:
        return _precision(self.tf32_products)

    def _float32_convolution_precision(self, host: CData) -> int:
        return _precision(self.tf32_convolutions)

    def _deterministic(self, host: CData) -> int:
        return int(self.deterministic)


def _precision(tf32: bool) -> int:
    return int(constants.DL_MATMUL_TF32 if tf32 else constants.DL_MATMUL_FLOAT32)


@cache
def default_host() -> HostTable:
    """Return the host table that all vendors of the process share."""
    return HostTable()

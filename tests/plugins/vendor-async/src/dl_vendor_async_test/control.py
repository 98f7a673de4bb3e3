"""Control of an instance of this vendor for tests in Python: holding streams, and counters.

The functions are declared in ``dl_async_test/control.h``, which documents them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cffi

_ffi = cffi.FFI()
_ffi.cdef(
    """
    typedef struct dl_status {
      uint64_t struct_size;
      int32_t code;
      int32_t reserved;
      const char* message;
      const char* operation;
      void (*release)(struct dl_status* self);
    } dl_status_t;
    typedef struct dl_extension {
      uint64_t struct_size;
      uint64_t type;
      struct dl_extension* next;
    } dl_extension_t;
    typedef struct { uint64_t struct_size; dl_extension_t* extensions; } table_start_t;
    typedef struct { const table_start_t* table; } dl_vendor_t;
    typedef struct {
      uint64_t struct_size;
      uint64_t items_enqueued;
      uint64_t items_started;
      uint64_t items_executed;
      uint64_t live_allocations;
      uint64_t live_bytes;
    } dl_async_test_counters_t;
    typedef struct {
      uint64_t struct_size;
      uint64_t type;
      dl_extension_t* next;
      dl_status_t* (*hold)(dl_vendor_t*, int32_t, void*);
      dl_status_t* (*release)(dl_vendor_t*, int32_t, void*);
      dl_status_t* (*counters)(dl_vendor_t*, int32_t, dl_async_test_counters_t*);
    } dl_async_test_control_t;
    """
)

EXTENSION_TYPE = 1000


class ControlError(RuntimeError):
    """The instance offers no control, or one of its calls failed."""


@dataclass(frozen=True)
class Counters:
    """Counters of a device since creation of the instance; ``live_bytes`` are requested bytes."""

    items_enqueued: int
    items_started: int
    items_executed: int
    live_allocations: int
    live_bytes: int


class Control:
    """The control of one instance.

    :param vendor: address of the instance, a ``dl_vendor_t*``.
    :raises ControlError: the instance belongs to another vendor.
    """

    def __init__(self, vendor: int) -> None:
        self._vendor = _ffi.cast("dl_vendor_t*", vendor)
        extension = self._vendor.table.extensions
        while extension != _ffi.NULL and extension.type != EXTENSION_TYPE:
            extension = extension.next
        if extension == _ffi.NULL:
            raise ControlError("the instance has no extension 1000; pass one of vendor 'async'")
        if extension.struct_size < _ffi.sizeof("dl_async_test_control_t"):
            raise ControlError("the library is older than this module; rebuild the wheel")
        self._control = _ffi.cast("dl_async_test_control_t*", extension)

    def hold(self, device: int = 0, stream: int = 0) -> None:
        """Start no further items on the stream; 0 is the default stream.

        :raises ControlError: the stream does not exist.
        """
        self._check(self._control.hold(self._vendor, device, _ffi.cast("void*", stream)))

    def release(self, device: int = 0, stream: int = 0) -> None:
        """Resume the stream.

        :raises ControlError: the stream does not exist.
        """
        self._check(self._control.release(self._vendor, device, _ffi.cast("void*", stream)))

    def counters(self, device: int = 0) -> Counters:
        """Return the counters of the device.

        :raises ControlError: the device does not exist.
        """
        raw = _ffi.new("dl_async_test_counters_t*")
        raw.struct_size = _ffi.sizeof("dl_async_test_counters_t")
        self._check(self._control.counters(self._vendor, device, raw))
        return Counters(
            raw.items_enqueued,
            raw.items_started,
            raw.items_executed,
            raw.live_allocations,
            raw.live_bytes,
        )

    @staticmethod
    def _check(status: Any) -> None:
        if status == _ffi.NULL:
            return
        message = _ffi.string(status.message).decode()
        status.release(status)
        raise ControlError(message)

"""Interface to a vendor that tensors, streams and calls use, for all kinds of libraries."""

from __future__ import annotations

import logging
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from operator import index
from types import MappingProxyType

from ..errors import ArgumentError, DiopiError
from ..schema import Operator
from .cabi import constants, ffi
from .device_errors import DeviceErrors
from .guard import Guard
from .hosttable import HostTable
from .lifetime import Lifetime
from .structs import CData, TableSlots, address

_log = logging.getLogger("diopi_proto.vendor")

HOST_ACCESSIBLE: int = constants.DL_CAP_HOST_ACCESSIBLE
SYNCHRONOUS: int = constants.DL_CAP_SYNCHRONOUS
ANY_HOST_POINTER: int = constants.DL_CAP_ANY_HOST_POINTER
REFERENCE: int = constants.DL_CAP_REFERENCE

HOST_TO_DEVICE: int = constants.DL_COPY_HOST_TO_DEVICE
DEVICE_TO_HOST: int = constants.DL_COPY_DEVICE_TO_HOST


class Instance(ABC):
    """One instance of a vendor library. The subclasses are a vendor table and a legacy library."""

    name: str
    version: str
    capabilities: int
    host: HostTable
    handle: CData
    """``dl_vendor_t*``; NULL for a legacy library."""
    guard: Guard | None = None
    """Checks what calls write, where that was asked for."""
    device_errors: DeviceErrors | None = None
    """What work on its devices found; None: it is synchronous, and its operators fail at once."""
    extensions: Mapping[str, TableSlots] = MappingProxyType({})
    """The extensions of the vendor table, by name; a legacy library has none."""
    mismatched: dict[str, str]
    """Operators that the library has but that were not bound, with the reason and the cure."""

    def __init__(self, destroy: Callable[[], None]) -> None:
        self.lifetime = Lifetime(destroy, self.name)
        weakref.finalize(self, self.lifetime.destroy_now)
        self._in_flight: dict[tuple[int, int], list[object]] = {}
        self._in_flight_lock = threading.Lock()

    def can(self, capability: int) -> bool:
        """Return True if the vendor has one of the capabilities above."""
        return bool(self.capabilities & capability)

    def check_device(self, device: int, operation: str) -> int:
        """The device's number, if there is such a device.

        :raises ArgumentError: there is none.
        """
        count = self.device_count()
        try:
            number = index(device)
        except TypeError:
            number = -1
        if not 0 <= number < count:
            shown = device if -1 <= number < 1 << 63 else "of that number"
            raise ArgumentError(
                f"[{operation}] vendor {self.name} has no device {shown}; it has {count}",
                operator=operation,
                parameter="device",
            )
        return number

    def enqueued(self, device: int, stream: CData, used: Iterable[object]) -> None:
        """Keep what work on a stream uses until somebody waits for the stream."""
        if not self.can(SYNCHRONOUS):
            with self._in_flight_lock:
                self._in_flight.setdefault((device, address(stream)), []).extend(used)

    def wait(self, device: int, stream: CData) -> None:
        """Wait for all work on one stream.

        :raises VendorError: the wait failed, or work before it did.
        :raises OperatorError: work before it found an error in its data.
        """
        if not self.can(SYNCHRONOUS):
            with self._in_flight_lock:
                used = self._in_flight.pop((device, address(stream)), None)
            errors = self.device_errors
            mark = errors.mark(device, stream) if errors is not None else ()
            try:
                self.synchronize_stream(device, stream)
            finally:
                del used
            if errors is not None:
                errors.check(mark)

    def taken_over(self, device: int, stream: CData) -> list[object]:
        """What work on a stream uses, for somebody else to keep: nobody will wait for it."""
        with self._in_flight_lock:
            return self._in_flight.pop((device, address(stream)), [])

    def wait_all(self, device: int) -> None:
        """Wait for all work that was enqueued on a device through this instance.

        :raises VendorError: the wait failed, or work before it did.
        """
        for number, stream in tuple(self._in_flight):
            if number == device:
                self.wait(device, ffi.cast("void*", stream))

    def close(self) -> None:
        """Wait for what was enqueued, then destroy the instance as soon as nothing of it is left.

        :raises VendorError: the work, or the wait for it, failed. The instance is closed all the
            same.
        """
        try:
            for device in {device for device, _ in tuple(self._in_flight)}:
                self.wait_all(device)
        finally:
            self.lifetime.close()

    def release(self, device: int, address: int) -> None:
        """Free device memory; for finalizers, so a failure is only logged."""

        def free() -> None:
            try:
                self.free(device, address)
            except DiopiError:
                _log.exception("vendor %s: freeing device memory failed", self.name)

        self.lifetime.drop(free)

    @abstractmethod
    def device_count(self) -> int:
        """How many devices there are; 0 without a driver."""

    @abstractmethod
    def allocate(self, device: int, count: int) -> int:
        """The address of ``count`` > 0 bytes of device memory.

        :raises OutOfMemoryError: there is not so much memory.
        """

    @abstractmethod
    def free(self, device: int, address: int) -> None:
        """Free what :meth:`allocate` returned."""

    @abstractmethod
    def copy(self, device: int, destination: int, source: int, count: int, kind: int) -> None:
        """Copy between host and device memory; finished on return."""

    @abstractmethod
    def synchronize_stream(self, device: int, stream: CData) -> None:
        """Wait for a stream; only called for asynchronous vendors."""

    @abstractmethod
    def function(self, operator: Operator) -> CData | None:
        """The operator's address, if it may be called."""

    @abstractmethod
    def has(self, operator: str) -> bool:
        """Return True if :meth:`function` would return an address."""

    @abstractmethod
    def last_error(self, operator: str) -> str:
        """Why the last operator on this thread failed, which is that one; empty if the library does
        not say.
        """

    def make_current(self, device: int) -> None:  # noqa: B027 - most vendors need nothing here
        """Called on the thread that is about to run an operator on that device.

        :raises VendorError: the vendor cannot choose the device.
        """

    def enter(self, context: CData) -> CData:
        """Called on the thread that is about to run an operator, for :meth:`leave` later."""
        return ffi.NULL

    def leave(self, before: CData) -> None:  # noqa: B027 - most vendors need nothing here
        """Called on the same thread when the operator has returned."""

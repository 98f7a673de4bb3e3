"""Interface of vendor instances for tensors, streams and calls, independent of the
library's kind.
"""

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
    """Instance of a vendor library; subclasses for vendor tables and legacy libraries."""

    name: str
    version: str
    capabilities: int
    host: HostTable
    handle: CData
    """``dl_vendor_t*``; NULL for a legacy library."""
    guard: Guard | None = None
    """Checks of the writes of calls, if ``guard_calls`` has enabled them."""
    device_errors: DeviceErrors | None = None
    """Error words of the instance's streams; None for a synchronous vendor, whose operators fail at
    once."""
    extensions: Mapping[str, TableSlots] = MappingProxyType({})
    """The extensions of the vendor table, by name; a legacy library has none."""
    mismatched: dict[str, str]
    """Operators of the library that were not bound, each with the reason and the remedy."""

    def __init__(self, destroy: Callable[[], None]) -> None:
        self.lifetime = Lifetime(destroy, self.name)
        weakref.finalize(self, self.lifetime.destroy_now)
        self._in_flight: dict[tuple[int, int], list[object]] = {}
        self._in_flight_lock = threading.Lock()

    def can(self, capability: int) -> bool:
        """Return True if the vendor has one of the capabilities above."""
        return bool(self.capabilities & capability)

    def check_device(self, device: int, operation: str) -> int:
        """Check a device index and return it.

        :raises ArgumentError: there is no such device.
        """
        count = self.device_count()
        try:
            number = index(device)
        except TypeError:
            number = -1
        if not 0 <= number < count:
            shown = device if -1 <= number < 1 << 63 else "of that number"
            raise ArgumentError(
                f"[{operation}] vendor {self.name} has no device {shown}; its number of devices is "
                f"{count}",
                operator=operation,
                parameter="device",
            )
        return number

    def enqueued(self, device: int, stream: CData, used: Iterable[object]) -> None:
        """Keep the objects that enqueued work uses alive until its stream is synchronized."""
        if not self.can(SYNCHRONOUS):
            with self._in_flight_lock:
                self._in_flight.setdefault((device, address(stream)), []).extend(used)

    def wait(self, device: int, stream: CData) -> None:
        """Wait for all work on one stream.

        :raises VendorError: synchronization failed, or earlier work did.
        :raises OperatorError: earlier work found an error in its data.
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

    def take_in_flight(self, device: int, stream: CData) -> list[object]:
        """Return the objects that are kept for a stream; from now on, the caller keeps them.

        Does not wait.
        """
        with self._in_flight_lock:
            return self._in_flight.pop((device, address(stream)), [])

    def wait_all(self, device: int) -> None:
        """Wait for all work that was enqueued on a device through this instance.

        :raises VendorError: synchronization failed, or earlier work did.
        """
        for number, stream in tuple(self._in_flight):
            if number == device:
                self.wait(device, ffi.cast("void*", stream))

    def close(self) -> None:
        """Wait for the enqueued work, then destroy the instance as soon as its last object is gone.

        :raises VendorError: the work or the synchronization failed. The instance is closed anyway.
        """
        try:
            for device in {device for device, _ in tuple(self._in_flight)}:
                self.wait_all(device)
        finally:
            self.lifetime.close()

    def release(self, device: int, address: int) -> None:
        """Free device memory. A failure is only logged, because finalizers call this."""

        def free() -> None:
            try:
                self.free(device, address)
            except DiopiError:
                _log.exception("vendor %s: freeing device memory failed", self.name)

        self.lifetime.drop(free)

    @abstractmethod
    def device_count(self) -> int:
        """Return the number of devices; 0 without a driver."""

    @abstractmethod
    def allocate(self, device: int, count: int) -> int:
        """Allocate ``count`` > 0 bytes of device memory and return their address.

        :raises OutOfMemoryError: memory is exhausted.
        """

    def padding(self, device: int) -> int:
        """Return the number of bytes without data that a device needs behind each block of its
        memory."""
        return 0

    @abstractmethod
    def free(self, device: int, address: int) -> None:
        """Free memory that :meth:`allocate` returned."""

    @abstractmethod
    def copy(self, device: int, destination: int, source: int, count: int, kind: int) -> None:
        """Copy between host and device memory synchronously."""

    @abstractmethod
    def synchronize_stream(self, device: int, stream: CData) -> None:
        """Wait for a stream; only called for asynchronous vendors."""

    @abstractmethod
    def function(self, operator: Operator) -> CData | None:
        """Return the operator's address, or None if it is not bound."""

    @abstractmethod
    def has(self, operator: str) -> bool:
        """Return True if :meth:`function` would return an address."""

    @abstractmethod
    def last_error(self, operator: str) -> str:
        """Return the message of the last operator that failed on this thread; empty if there is
        none.
        """

    def make_current(self, device: int) -> None:  # noqa: B027 - most vendors need nothing here
        """Make a device current on the thread that is about to run an operator.

        :raises VendorError: the vendor cannot select the device.
        """

    def enter(self, context: CData) -> CData:
        """Prepare this thread for running an operator; :meth:`leave` undoes it."""
        return ffi.NULL

    def leave(self, before: CData) -> None:  # noqa: B027 - most vendors need nothing here
        """Undo :meth:`enter` on the same thread after the operator has returned."""

"""Streams and events of a vendor.

A synchronous vendor may lack both, because its work is finished when a call returns. Each of its
streams is then the default stream, and its events record times of the host's clock.
"""

from __future__ import annotations

import logging
import time
import weakref

from ..errors import ArgumentError, DiopiError, NotSupportedError, VendorError
from .cabi import constants, ffi
from .device_errors import Mark
from .instance import SYNCHRONOUS, Instance
from .structs import CData
from .tableinstance import TableInstance

_log = logging.getLogger("diopi_proto.vendor")
_STREAM_SLOTS = ("stream_create", "stream_destroy")
_EVENT_SLOTS = ("event_create", "event_destroy", "event_record", "event_synchronize", "event_query")


def _table(instance: Instance, slots: tuple[str, ...]) -> TableInstance | None:
    """Return the vendor's table if it has all of the slots; None if the host must replace them.

    :raises NotSupportedError: the vendor is asynchronous, so the host cannot replace them.
    """
    instance.lifetime.check_open()
    table = instance if isinstance(instance, TableInstance) else None
    missing = [slot for slot in slots if table is None or not table.slots.has(slot)]
    if not missing:
        return table
    if instance.can(SYNCHRONOUS):
        return None
    raise NotSupportedError(
        f"[{missing[0]}] vendor {instance.name} does not support this, and is asynchronous; a "
        "newer release of it may",
        code=constants.DL_NOT_SUPPORTED,
        operation=missing[0],
        vendor=instance.name,
    )


class Stream:
    """A queue of work on one device. Destroyed with its last reference.

    :param priority: streams with lower numbers run first.
    :raises NotSupportedError: the vendor is asynchronous and has no streams.
    """

    def __init__(self, instance: Instance, device: int, priority: int = 0) -> None:
        self._instance = instance
        self.device = instance.check_device(device, "stream_create")
        self._table = _table(instance, _STREAM_SLOTS)
        self._pointer: CData = ffi.NULL
        if not isinstance(priority, int) or not -(1 << 31) <= priority < 1 << 31:
            raise ArgumentError(
                f"[stream] priority is a {type(priority).__name__} that is not an integer "
                "of 32 bits",
                operator="stream",
                parameter="priority",
            )
        if self._table is not None:
            pointer = ffi.new("void**")
            values = (priority, pointer)
            names = ("stream_create", "stream_destroy")
            self._pointer = _create(self, self._table, *names, device, values, pointer)

    def pointer_for(self, instance: Instance, device: int) -> CData:
        """Return the vendor's stream for a call on an instance and device.

        :raises ArgumentError: the stream belongs to another instance or device.
        """
        if instance is not self._instance or device != self.device:
            raise ArgumentError(
                f"[stream] a stream of vendor {self._instance.name}, device {self.device} cannot "
                f"run a call of vendor {instance.name}, device {device}; create the stream there",
                operator="stream",
                parameter="stream",
            )
        return self._pointer

    @property
    def pointer(self) -> CData:
        """The vendor's own stream, for calls of its slots; NULL: the default stream."""
        return self._pointer

    def synchronize(self) -> None:
        """Wait for all work on the stream.

        :raises VendorError: synchronization failed, or earlier work did.
        :raises OperatorError: a call on it found an error in its data.
        """
        self._instance.wait(self.device, self._pointer)

    def query(self) -> bool:
        """Return True if all work on the stream is finished."""
        if self._table is None or self._instance.can(SYNCHRONOUS):
            return True
        finished = ffi.new("int32_t*")
        self._table.slots.call("stream_query", self.device, self._pointer, finished)
        return bool(finished[0])

    def wait_event(self, event: Event) -> None:
        """Make later work on this stream wait for an event."""
        pointer = event.pointer_for(self._instance)
        # If the host replaces streams or events, all work before the event has finished already.
        if self._table is None or pointer == ffi.NULL:
            return
        if self._table.slots.has("stream_wait_event"):
            self._table.slots.call("stream_wait_event", self.device, self._pointer, pointer)
        else:
            event.synchronize()


class Event:
    """A point in a stream. Destroyed with its last reference.

    :param timing: support :meth:`elapsed_since`.
    :raises NotSupportedError: the vendor is asynchronous and has no events.
    """

    def __init__(self, instance: Instance, device: int, *, timing: bool = False) -> None:
        self._instance = instance
        self.device = instance.check_device(device, "event_create")
        self._timing = timing
        self._table = _table(instance, _EVENT_SLOTS)
        self._pointer: CData = ffi.NULL
        self._errors: Mark = ()
        self._moment: float | None = None
        """Time of recording in seconds, if the host replaces the vendor's events."""
        if self._table is not None:
            pointer = ffi.new("void**")
            values = (constants.DL_EVENT_TIMING if timing else 0, pointer)
            names = ("event_create", "event_destroy")
            self._pointer = _create(self, self._table, *names, device, values, pointer)

    def pointer_for(self, instance: Instance) -> CData:
        """Return the vendor's event; NULL if the host replaces it.

        :raises ArgumentError: the event belongs to another instance.
        """
        if instance is not self._instance:
            raise ArgumentError(
                f"[event] an event of vendor {self._instance.name} cannot be used with another "
                f"instance, of vendor {instance.name}; create the event on that instance",
                operator="event",
                parameter="event",
            )
        return self._pointer

    def record(self, stream: Stream | None = None) -> None:
        """Record the work enqueued so far on a stream; None: the default stream."""
        queue = ffi.NULL if stream is None else stream.pointer_for(self._instance, self.device)
        if self._table is None:
            self._moment = time.perf_counter()
        else:
            if self._table.device_errors is not None:
                self._errors = self._table.device_errors.mark(self.device, queue)
            self._table.slots.call("event_record", self.device, self._pointer, queue)

    def synchronize(self) -> None:
        """Wait for the recorded work.

        :raises OperatorError: a call on that stream found an error in its data.
        """
        if self._table is not None:
            self._table.slots.call("event_synchronize", self.device, self._pointer)
            if self._table.device_errors is not None:
                self._table.device_errors.check(self._errors)

    def query(self) -> bool:
        """Return True if the recorded work is finished, or if nothing was recorded."""
        if self._table is None:
            return True
        finished = ffi.new("int32_t*")
        self._table.slots.call("event_query", self.device, self._pointer, finished)
        return bool(finished[0])

    def elapsed_since(self, start: Event) -> float:
        """Return the milliseconds from ``start`` to this event.

        :raises VendorError: an event is not finished, was never recorded, or was created without
            ``timing``.
        """
        begin = start.pointer_for(self._instance)
        if self._table is None:
            return (self._recorded() - start._recorded()) * 1e3
        milliseconds = ffi.new("double*")
        self._table.slots.call("event_elapsed", self.device, begin, self._pointer, milliseconds)
        return float(milliseconds[0])

    def _recorded(self) -> float:
        if self._moment is None or not self._timing:
            what = "was never recorded" if self._timing else "was created without timing"
            raise VendorError(
                f"[event_elapsed] an event {what} (vendor {self._instance.name})",
                code=constants.DL_INVALID_ARGUMENT,
                operation="event_elapsed",
                vendor=self._instance.name,
            )
        return self._moment


def _create(
    owner: object,
    instance: TableInstance,
    create: str,
    destroy: str,
    device: int,
    arguments: tuple[object, ...],
    pointer: CData,
) -> CData:
    """Call a slot that creates an object, and destroy that object with its owner."""
    instance.lifetime.hold()
    try:
        instance.slots.call(create, device, *arguments)
    except BaseException:
        instance.lifetime.drop()
        raise
    created = pointer[0]

    def release() -> None:
        try:
            if destroy == _STREAM_SLOTS[1] and instance.device_errors is not None:
                instance.device_errors.forget(device, created)
            instance.slots.call(destroy, device, created)
        except DiopiError:
            _log.exception("vendor %s: %s failed", instance.name, destroy)

    weakref.finalize(owner, instance.lifetime.drop, release).atexit = False
    return created

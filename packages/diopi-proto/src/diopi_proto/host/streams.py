"""Streams and events of a vendor."""

from __future__ import annotations

import logging
import weakref

from ..errors import ArgumentError, DiopiError
from .cabi import constants, ffi
from .instance import Instance
from .structs import CData
from .tableinstance import TableInstance

_log = logging.getLogger("diopi_proto.vendor")


class Stream:
    """A queue of work on one device. Destroyed with its last reference.

    :param priority: lower numbers go first.
    :raises NotSupportedError: the vendor has no streams.
    """

    def __init__(self, instance: TableInstance, device: int, priority: int = 0) -> None:
        self._instance = instance
        self.device = instance.check_device(device, "stream_create")
        pointer = ffi.new("void**")
        self._pointer = _create(
            self, instance, "stream_create", "stream_destroy", device, (priority, pointer), pointer
        )

    def pointer_for(self, instance: Instance, device: int) -> CData:
        """The vendor's own stream, for a call on that instance and device.

        :raises ArgumentError: the stream belongs to another one.
        """
        if instance is not self._instance or device != self.device:
            raise ArgumentError(
                f"[stream] a stream of vendor {self._instance.name}, device {self.device} cannot "
                f"run a call of vendor {instance.name}, device {device}",
                operator="stream",
                parameter="stream",
            )
        return self._pointer

    def synchronize(self) -> None:
        """Wait for all work on the stream.

        :raises VendorError: the wait failed, or work before it did.
        """
        self._instance.wait(self.device, self._pointer)

    def query(self) -> bool:
        """Whether all work on the stream is finished."""
        finished = ffi.new("int32_t*")
        self._instance.slots.call("stream_query", self.device, self._pointer, finished)
        return bool(finished[0])

    def wait_event(self, event: Event) -> None:
        """Let later work on this stream wait for an event."""
        self._instance.slots.call(
            "stream_wait_event", self.device, self._pointer, event.pointer_for(self._instance)
        )


class Event:
    """A point in a stream. Destroyed with its last reference.

    :param timing: two such events can be subtracted.
    :raises NotSupportedError: the vendor has no events.
    """

    def __init__(self, instance: TableInstance, device: int, *, timing: bool = False) -> None:
        self._instance = instance
        self.device = instance.check_device(device, "event_create")
        pointer = ffi.new("void**")
        flags = constants.DL_EVENT_TIMING if timing else 0
        self._pointer = _create(
            self, instance, "event_create", "event_destroy", device, (flags, pointer), pointer
        )

    def pointer_for(self, instance: Instance) -> CData:
        """The vendor's own event.

        :raises ArgumentError: the event belongs to another instance.
        """
        if instance is not self._instance:
            raise ArgumentError(
                f"[event] an event of vendor {self._instance.name} means nothing to another one",
                operator="event",
                parameter="event",
            )
        return self._pointer

    def record(self, stream: Stream | None = None) -> None:
        """Set the event to the work enqueued so far on a stream; None: the default one."""
        queue = ffi.NULL if stream is None else stream.pointer_for(self._instance, self.device)
        self._instance.slots.call("event_record", self.device, self._pointer, queue)

    def synchronize(self) -> None:
        """Wait for the recorded work."""
        self._instance.slots.call("event_synchronize", self.device, self._pointer)

    def query(self) -> bool:
        """Whether the recorded work is finished; True if nothing was recorded."""
        finished = ffi.new("int32_t*")
        self._instance.slots.call("event_query", self.device, self._pointer, finished)
        return bool(finished[0])

    def elapsed_since(self, start: Event) -> float:
        """Milliseconds from ``start`` to this event; both finished and made with ``timing``."""
        milliseconds = ffi.new("double*")
        begin = start.pointer_for(self._instance)
        self._instance.slots.call("event_elapsed", self.device, begin, self._pointer, milliseconds)
        return float(milliseconds[0])


def _create(
    owner: object,
    instance: TableInstance,
    create: str,
    destroy: str,
    device: int,
    arguments: tuple[object, ...],
    pointer: CData,
) -> CData:
    """Call a slot that creates something, and tie what it created to its owner."""
    instance.lifetime.hold()
    try:
        instance.slots.call(create, device, *arguments)
    except BaseException:
        instance.lifetime.drop()
        raise
    created = pointer[0]

    def release() -> None:
        try:
            instance.slots.call(destroy, device, created)
        except DiopiError:
            _log.exception("vendor %s: %s failed", instance.name, destroy)

    weakref.finalize(owner, instance.lifetime.drop, release).atexit = False
    return created

"""The profiler extension: activities of a device with their times."""

from __future__ import annotations

from dataclasses import dataclass

from .._native import text
from .cabi import constants, ffi
from .extensions import extension_of
from .instance import Instance

_KINDS: dict[int, str] = {
    getattr(constants, f"DL_ACTIVITY_{name.upper()}"): name
    for name in ("other", "kernel", "copy", "set", "wait", "collective", "graph")
}


@dataclass(frozen=True)
class Activity:
    """One activity of a device."""

    name: str
    kind: str
    """``"kernel"``, ``"copy"``, ``"set"``, ``"wait"``, ``"collective"``, ``"graph"`` or
    ``"other"``."""
    device: int
    stream: int
    """Identifier of the stream, defined by the vendor; 0 is the default stream."""
    correlation: int
    """Correlation number set by :meth:`Profiler.correlate` when the work was enqueued."""
    start: int
    """Nanoseconds of the device's clock."""
    end: int
    bytes: int
    """Bytes moved by a copy or written by a set."""


@dataclass(frozen=True)
class Clock:
    """One instant on both clocks, in nanoseconds."""

    device: int
    host: int
    """Host time as of :func:`time.monotonic_ns`."""
    uncertainty: int

    def host_time(self, device_time: int) -> int:
        """Convert a device time to the host's clock."""
        return device_time - self.device + self.host


class Profiler:
    """The profiler extension of one vendor; :attr:`diopi_proto.Vendor.profiler`."""

    def __init__(self, instance: Instance) -> None:
        self._instance, self._slots = instance, extension_of(instance, "profiler")

    def start(self, device: int = 0) -> None:
        """Start recording the work enqueued on a device.

        :raises VendorError: the device is already being recorded.
        """
        self._slots.call("start", self._instance.check_device(device, "profiler.start"), 0)

    def stop(self, device: int = 0) -> None:
        """Wait for the recorded work, then stop.

        :raises VendorError: the device is not being recorded.
        """
        self._slots.call("stop", self._instance.check_device(device, "profiler.stop"))

    def collect(self, device: int = 0) -> tuple[list[Activity], int]:
        """Return the finished activities that were not collected before, ordered by start time, and
        the number of activities that were dropped because a buffer was full.
        """
        found = ffi.new("dl_activities_t**")
        self._slots.call("collect", self._instance.check_device(device, "profiler.collect"), found)
        raw = found[0]
        try:
            activities = [
                Activity(
                    name=text(one.name),
                    kind=_KINDS.get(one.kind, "other"),
                    device=one.device,
                    stream=int(ffi.cast("uintptr_t", one.stream)),
                    correlation=one.correlation,
                    start=one.start,
                    end=one.end,
                    bytes=one.bytes,
                )
                for one in (raw.records[i] for i in range(raw.count))
            ]
            return activities, int(raw.dropped)
        finally:
            raw.release(raw)

    def clock(self, device: int = 0) -> Clock:
        """Return the current times of both clocks."""
        raw = ffi.new("dl_clock_t*")
        raw.struct_size = ffi.sizeof("dl_clock_t")
        self._slots.call("clock", self._instance.check_device(device, "profiler.clock"), raw)
        return Clock(raw.device, raw.host, raw.uncertainty)

    def correlate(self, correlation: int) -> int:
        """Set the correlation number of this thread's later work (0: none); return the previous
        one.
        """
        before = ffi.new("uint64_t*")
        self._slots.call("correlate", correlation, before)
        return int(before[0])

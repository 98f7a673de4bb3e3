"""The profiler extension: what ran on a device, and when."""

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
    """One thing that a device did."""

    name: str
    kind: str
    """``"kernel"``, ``"copy"``, ``"set"``, ``"wait"``, ``"collective"``, ``"graph"`` or
    ``"other"``."""
    device: int
    stream: int
    """A number of the vendor's; 0 is the default stream."""
    correlation: int
    """Correlation of :meth:`Profiler.correlate` when the work was enqueued."""
    start: int
    """Nanoseconds of the device's clock."""
    end: int
    bytes: int
    """Moved by a copy, written by a set."""


@dataclass(frozen=True)
class Clock:
    """One moment on both clocks, in nanoseconds."""

    device: int
    host: int
    """As :func:`time.monotonic_ns`."""
    uncertainty: int

    def host_time(self, device_time: int) -> int:
        """A time of the device by the host's clock."""
        return device_time - self.device + self.host


class Profiler:
    """The profiler extension of one vendor; :attr:`diopi_proto.Vendor.profiler`."""

    def __init__(self, instance: Instance) -> None:
        self._instance, self._slots = instance, extension_of(instance, "profiler")

    def start(self, device: int = 0) -> None:
        """Record what is enqueued on a device from now on.

        :raises VendorError: it is being recorded already.
        """
        self._slots.call("start", self._instance.check_device(device, "profiler.start"), 0)

    def stop(self, device: int = 0) -> None:
        """Wait for what is recorded, then stop.

        :raises VendorError: it is not being recorded.
        """
        self._slots.call("stop", self._instance.check_device(device, "profiler.stop"))

    def collect(self, device: int = 0) -> tuple[list[Activity], int]:
        """The activities that have finished and were not collected before, by their start, and
        how many were not recorded for lack of room.
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
        """Mark what this thread enqueues from now on; returns the mark until now. 0 is none."""
        before = ffi.new("uint64_t*")
        self._slots.call("correlate", correlation, before)
        return int(before[0])

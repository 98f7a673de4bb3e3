"""Stopwatches for operators on a device: events in its stream, or the host's clock.

Both exclude the tool's own work: the host's clock is stopped while the tool works, and events are
read only after the device has completed them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import torch

Nanoseconds = Callable[[], int]


class Stopwatch(Protocol):
    """Marks points in the work of a device and measures the time between them.

    A tool calls :meth:`begin` when its work before an operator begins, :meth:`start` just before
    the operator runs, :meth:`stop` just after it, and :meth:`end` when its work after it is done.
    """

    name: str
    """Name of the clock, for reports."""
    own: int
    """Nanoseconds that the tool has worked."""

    def begin(self) -> int: ...
    def start(self, begun: int) -> Any: ...
    def stop(self) -> tuple[Any, int]: ...
    def end(self, stopped: int) -> None: ...

    def mark(self) -> Any:
        """Mark the end of something asynchronous, in any thread."""

    def passed(self, mark: Any) -> bool:
        """Return True if the device has completed a mark."""

    def wait(self) -> None:
        """Wait until the device has completed all marks."""

    def seconds(self, start: Any, stop: Any) -> float: ...

    def release(self, *marks: Any) -> None:
        """Free marks that are no longer needed."""


class HostStopwatch:
    """The host's clock, read after the device has finished its queued work.

    :param synchronize: waits for the device; None for devices that compute in the host's thread.
    """

    def __init__(
        self,
        synchronize: Callable[[], None] | None = None,
        now: Nanoseconds = time.perf_counter_ns,
    ) -> None:
        self.name = "host clock" if synchronize is None else "host clock, device synchronised"
        self.own = 0
        self._synchronize = synchronize
        self._now = now

    def begin(self) -> int:
        return self._now()

    def start(self, begun: int) -> int:
        if self._synchronize is not None:
            self._synchronize()
        started = self._now()
        self.own += started - begun
        return started - self.own

    def stop(self) -> tuple[int, int]:
        if self._synchronize is not None:
            self._synchronize()
        stopped = self._now()
        return stopped - self.own, stopped

    def end(self, stopped: int) -> None:
        self.own += self._now() - stopped

    def mark(self) -> int:
        return self._now() - self.own

    def passed(self, mark: int) -> bool:
        return True

    def wait(self) -> None:
        if self._synchronize is not None:
            self._synchronize()

    def seconds(self, start: int, stop: int) -> float:
        return max(stop - start, 0) / 1e9

    def release(self, *marks: int) -> None:
        pass


class EventStopwatch:
    """Events in the current stream of the current device; the program is not delayed."""

    def __init__(self, device: str, now: Nanoseconds = time.perf_counter_ns) -> None:
        self.name = "device events"
        self.own = 0
        self._now = now
        self._module = torch.get_device_module(device)
        self._several = device != "mps" and torch.accelerator.device_count() > 1
        # An event belongs to the device where it was recorded first.
        self._free: dict[int, list[Any]] = {}

    def _record(self) -> tuple[Any, int]:
        index = torch.accelerator.current_device_index() if self._several else 0
        free = self._free.setdefault(index, [])
        try:
            event = free.pop()
        except IndexError:
            event = self._module.Event(enable_timing=True)
        event.record()
        return event, index

    def begin(self) -> int:
        return self._now()

    def start(self, begun: int) -> tuple[Any, int]:
        mark = self._record()
        self.own += self._now() - begun
        return mark

    def stop(self) -> tuple[tuple[Any, int], int]:
        stopped = self._now()
        return self._record(), stopped

    def end(self, stopped: int) -> None:
        self.own += self._now() - stopped

    def mark(self) -> tuple[Any, int]:
        return self._record()

    def passed(self, mark: tuple[Any, int]) -> bool:
        return bool(mark[0].query())

    def wait(self) -> None:
        self._module.synchronize()

    def seconds(self, start: tuple[Any, int], stop: tuple[Any, int]) -> float:
        if start[1] != stop[1]:
            # The program changed its device in between; no clock covers both.
            return 0.0
        return max(float(start[0].elapsed_time(stop[0])), 0.0) / 1e3

    def release(self, *marks: tuple[Any, int]) -> None:
        for event, index in marks:
            self._free[index].append(event)


def _works(stopwatch: EventStopwatch) -> bool:
    start = stopwatch.start(stopwatch.begin())
    stop, _ = stopwatch.stop()
    stopwatch.wait()
    try:
        stopwatch.seconds(start, stop)
    except RuntimeError:
        return False
    stopwatch.release(start, stop)
    return True


def stopwatch_for(device: str, now: Nanoseconds = time.perf_counter_ns) -> Stopwatch:
    """Return the best stopwatch that a type of device supports."""
    module = torch.get_device_module(device)
    if device == "cpu" or _computes_in_host_thread(device):
        return HostStopwatch(None, now)
    if hasattr(module, "Event"):
        try:
            stopwatch = EventStopwatch(device, now)
            if _works(stopwatch):
                return stopwatch
        except (RuntimeError, TypeError, NotImplementedError):
            # Events have no times, or no `enable_timing`; the name of the clock in reports shows
            # that.
            pass
    return HostStopwatch(module.synchronize, now)


def _computes_in_host_thread(device: str) -> bool:
    """Return True if calls on the current device are synchronous."""
    if device != "dl":
        return False
    from dl_core import _C

    return bool(_C.device_info(torch.accelerator.current_device_index())["synchronous"])

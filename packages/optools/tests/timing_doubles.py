"""Clocks that tests control, and operators that advance them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch


class Nanoseconds:
    """A clock that advances only on request."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class Event:
    """An event of a device that lags behind its host; its times come from :class:`Device`."""

    device: Device

    def __init__(self, enable_timing: bool = False) -> None:
        assert enable_timing

    def record(self) -> None:
        self.at = self.device.submitted

    def query(self) -> bool:
        return self.at <= self.device.done

    def elapsed_time(self, end: Event) -> float:
        assert self.query() and end.query()
        return (end.at - self.at) / 1e6


class Device:
    """Fake of ``torch.get_device_module`` for a device with a queue of work."""

    def __init__(self) -> None:
        self.submitted = 0
        """Nanoseconds of work that the host has enqueued; :attr:`done` of them are finished."""
        self.done = 0
        self.synchronised = 0
        self.Event = type("DeviceEvent", (Event,), {"device": self})

    def device_count(self) -> int:
        return 1

    def synchronize(self) -> None:
        self.synchronised += 1
        self.done = self.submitted


class Work:
    """An operator that takes a given time, in forward and in backward."""

    def __init__(self, pass_time: Callable[[int], None]) -> None:
        library = torch.library.Library("dl_timing_test", "FRAGMENT")
        self._library = library
        library.define("work(Tensor x, int ns) -> Tensor")

        def work(x: torch.Tensor, ns: int) -> torch.Tensor:
            pass_time(ns)
            return x.clone()

        library.impl("work", work, "CPU")
        self.overload = torch.ops.dl_timing_test.work.default
        overload = self.overload

        class Timed(torch.autograd.Function):
            @staticmethod
            def forward(ctx: object, x: torch.Tensor, ns: int) -> torch.Tensor:
                return overload(x, ns)

            @staticmethod
            def backward(ctx: object, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
                return overload(gradient, 7_000), None

        self.function = Timed.apply

    def close(self) -> None:
        self._library._destroy()


def working(pass_time: Callable[[int], None]) -> Iterator[Work]:
    """Context manager for fixtures."""
    work = Work(pass_time)
    yield work
    work.close()

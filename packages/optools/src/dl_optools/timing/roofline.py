"""What a device can do at best, measured: bytes copied and products computed in a second.

A measurement takes a second or two and is kept for the process, so that all reports of a run
compare with the same numbers; :func:`measure_roofline` measures anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from dl_optools.call import own_work
from dl_optools.timing.clocks import Stopwatch, stopwatch_for

_REPEATS = 5
_LONG_ENOUGH = 0.02
_COPY_BYTES = 256 << 20
_LARGEST = 8192


@dataclass(frozen=True)
class Roofline:
    """The best of several repeats.

    :ivar device: what :func:`describe_device` says.
    :ivar bandwidth: bytes per second read and written by a copy; 0 where none could be made.
    :ivar flops: floating-point operations per second of a square matrix product, by dtype.
    """

    device: str
    bandwidth: float
    flops: dict[str, float] = field(default_factory=dict)

    def seconds(self, moved: float, flops: dict[str, float]) -> float:
        """The least time for so much work; 0 where nothing is known."""
        times = [moved / self.bandwidth] if self.bandwidth else []
        known = [count / self.flops[x] for x, count in flops.items() if self.flops.get(x)]
        return max([*times, sum(known)], default=0.0)

    def as_json(self) -> dict[str, Any]:
        return {"device": self.device, "bandwidth": self.bandwidth, "flops": self.flops}


def describe_device(device: str) -> str:
    """``cuda: NVIDIA H100``, ``cpu: 2 threads``."""
    if device == "cpu":
        return f"cpu: {torch.get_num_threads()} threads"
    name = getattr(torch.get_device_module(device), "get_device_name", None)
    return f"{device}: {name()}" if callable(name) else device


_known: dict[str, Roofline] = {}


def measured_roofline(device: str, dtypes: Iterable[str]) -> Roofline:
    """What this process has measured of a device; dtypes that are missing are measured now."""
    described = describe_device(device)
    known = _known.get(described)
    missing = [dtype for dtype in dtypes if known is None or dtype not in known.flops]
    if known is None:
        known = measure_roofline(device, missing)
    elif missing:
        with own_work():
            watch = stopwatch_for(device)
            more = {x: _product(device, x, watch) for x in missing}
        known = Roofline(described, known.bandwidth, {**known.flops, **more})
    _known[described] = known
    return known


def measure_roofline(device: str, dtypes: Iterable[str]) -> Roofline:
    """Measure a type of device now, on the current one.

    :param dtypes: names such as ``bfloat16``; those in which it has no product get 0.
    """
    with own_work(), torch.no_grad():
        watch = stopwatch_for(device)
        return Roofline(
            describe_device(device),
            _copy(device, watch),
            {dtype: _product(device, dtype, watch) for dtype in dtypes},
        )


def _best(work: Callable[[], object], watch: Stopwatch) -> float:
    """Seconds of the fastest of several runs, the first one not counted."""
    work()
    times = []
    for _ in range(_REPEATS):
        start = watch.start(watch.begin())
        work()
        stop, _ = watch.stop()
        watch.wait()
        times.append(watch.seconds(start, stop))
    return min(times)


def _copy(device: str, watch: Stopwatch) -> float:
    size = _COPY_BYTES
    while size >= 1 << 20:
        try:
            source = torch.ones(size, dtype=torch.uint8, device=device)
            target = torch.empty_like(source)
            seconds = _best(lambda: target.copy_(source), watch)  # noqa: B023 - called at once
        except RuntimeError:
            # Too little memory is left.
            size //= 4
            continue
        return 2 * size / seconds if seconds else 0.0
    return 0.0


def _product(device: str, dtype: str, watch: Stopwatch) -> float:
    """The rate of the first product that runs long enough to be measured."""
    side, rate = 512, 0.0
    deadline = time.perf_counter() + 2
    while side <= _LARGEST and time.perf_counter() < deadline:
        try:
            left = torch.ones(side, side, device=device).to(getattr(torch, dtype))
            seconds = _best(lambda: torch.mm(left, left), watch)  # noqa: B023 - called at once
        except RuntimeError:
            return rate
        rate = max(rate, 2 * side**3 / seconds if seconds else 0.0)
        if seconds > _LONG_ENOUGH:
            break
        side *= 2
    return rate

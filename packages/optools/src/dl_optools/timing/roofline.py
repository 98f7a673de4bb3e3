"""Measured peak rates of a device: bytes copied and products computed per second.

A measurement takes a second or two and is cached for the process, so that all reports of a run
compare with the same numbers; :func:`measure_roofline` measures again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from dl_optools.call import own_work
from dl_optools.timing.clocks import Stopwatch, stopwatch_for

_REPEATS = 5
_LONG_ENOUGH = 0.02
_COPY_BYTES = 256 << 20
_HOST_COPY_BYTES = 32 << 20
_LARGEST = 8192
UNSTEADY = 1.5
"""Ratio of repeats from which on the device was probably busy."""


@dataclass(frozen=True)
class Roofline:
    """The best of several repeats.

    :ivar device: description by :func:`describe_device`.
    :ivar bandwidth: bytes per second read and written by a copy; 0 if a copy was impossible.
    :ivar flops: floating-point operations per second of a square matrix product, by dtype.
    :ivar doubts: descriptions of measurements whose repeats differ strongly.
    """

    device: str
    bandwidth: float
    flops: dict[str, float] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    def seconds(self, moved: float, flops: dict[str, float]) -> float:
        """Return the minimum time for that much work; 0 if nothing is known."""
        times = [moved / self.bandwidth] if self.bandwidth else []
        known = [count / self.flops[x] for x, count in flops.items() if self.flops.get(x)]
        return max([*times, sum(known)], default=0.0)

    def as_json(self) -> dict[str, Any]:
        return {"device": self.device, "bandwidth": self.bandwidth, "flops": self.flops}


def describe_device(device: str) -> str:
    """Return ``cuda: NVIDIA H100``, ``cpu: 2 threads``."""
    if device == "cpu":
        return f"cpu: {torch.get_num_threads()} threads"
    name = getattr(torch.get_device_module(device), "get_device_name", None)
    return f"{device}: {name()}" if callable(name) else device


_known: dict[str, Roofline] = {}


def cached_roofline(device: str, dtypes: Iterable[str]) -> Roofline:
    """Return this process's measurements of a device; missing dtypes are measured now."""
    described = describe_device(device)
    known = _known.get(described)
    missing = [dtype for dtype in dtypes if known is None or dtype not in known.flops]
    if known is None:
        known = measure_roofline(device, missing)
    elif missing:
        with own_work():
            watch = stopwatch_for(device)
            more = {x: _product(device, x, watch) for x in missing}
        flops = {**known.flops, **{x: one.rate for x, one in more.items()}}
        doubts = known.doubts + _doubts({f"{x} product": one for x, one in more.items()})
        known = Roofline(described, known.bandwidth, flops, doubts)
    _known[described] = known
    return known


def measure_roofline(device: str, dtypes: Iterable[str]) -> Roofline:
    """Measure the current device of a type now.

    :param dtypes: names such as ``bfloat16``; dtypes without a product get 0.
    """
    with own_work(), torch.no_grad():
        watch = stopwatch_for(device)
        copy = _copy(device, watch)
        products = {dtype: _product(device, dtype, watch) for dtype in dtypes}
        named = {"copy": copy, **{f"{dtype} product": one for dtype, one in products.items()}}
        return Roofline(
            describe_device(device),
            copy.rate,
            {dtype: one.rate for dtype, one in products.items()},
            _doubts(named),
        )


@dataclass(frozen=True)
class _Measured:
    """Measured rate.

    :ivar spread: the median repeat divided by the fastest one.
    """

    rate: float = 0.0
    spread: float = 1.0


def _doubts(found: Mapping[str, _Measured]) -> tuple[str, ...]:
    return tuple(
        f"the roof of {name} is in doubt: repeats took up to {one.spread:.2g} times as long as the "
        "fastest, so the device was busy with something else"
        for name, one in found.items()
        if one.spread > UNSTEADY
    )


def _best(work: Callable[[], object], watch: Stopwatch) -> tuple[float, float]:
    """Return the seconds of the fastest run after a warm-up, and the spread of the runs."""
    work()
    times = []
    for _ in range(_REPEATS):
        start = watch.start(watch.begin())
        work()
        stop, _ = watch.stop()
        watch.wait()
        times.append(watch.seconds(start, stop))
    best = min(times)
    return best, sorted(times)[len(times) // 2] / best if best else 1.0


def _copy(device: str, watch: Stopwatch) -> _Measured:
    # On a host, buffers take memory from the program itself.
    size = _HOST_COPY_BYTES if _is_host(device) else _COPY_BYTES
    while size >= 1 << 20:
        try:
            source = torch.ones(size, dtype=torch.uint8, device=device)
            target = torch.empty_like(source)
            seconds, spread = _best(lambda: target.copy_(source), watch)  # noqa: B023 - called at once
        except RuntimeError:
            # Too little memory is free.
            size //= 4
            continue
        return _Measured(2 * size / seconds if seconds else 0.0, spread)
    return _Measured()


def _is_host(device: str) -> bool:
    """Return True if its memory is likely the host's: it has no warps."""
    if device == "cpu":
        return True
    properties = getattr(torch.get_device_module(device), "get_device_properties", None)
    return callable(properties) and getattr(properties(0), "warp_size", 0) == 1


def _product(device: str, dtype: str, watch: Stopwatch) -> _Measured:
    """Return the rate of the first product that runs long enough to be measured."""
    side, found = 512, _Measured()
    deadline = time.perf_counter() + 2
    while side <= _LARGEST and time.perf_counter() < deadline:
        try:
            left = torch.ones(side, side, device=device).to(getattr(torch, dtype))
            seconds, spread = _best(lambda: torch.mm(left, left), watch)  # noqa: B023 - at once
        except RuntimeError:
            return found
        one = _Measured(2 * side**3 / seconds if seconds else 0.0, spread)
        found = max(found, one, key=lambda x: x.rate)
        if seconds > _LONG_ENOUGH:
            break
        side *= 2
    return found

"""Timed launches for races: callables that run once and return their seconds."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernel import TunableKernel
from ..observers.warmup import Run
from ..spaces import Config
from ..toolchains import Toolchain
from .correctness import Launcher, seeded_arguments
from .description import launch_of

CACHES = ("warm", "rotate", "flush")
"""State of the caches at a launch: warm with the same arguments; rotating over other arguments of
the same shape; flushed by writing more memory than any cache has."""
_COPIES = 4
_FLUSHED_BYTES = 64 << 20
_SHORTEST = 2e-4
"""Duration in seconds below which several launches are timed together."""


def timed_launches(
    kernel: TunableKernel, toolchain: Toolchain, caches: str, seed: int
) -> Callable[[Launcher, Config], Run]:
    """Factory of :data:`Run` objects that share their arguments."""
    copies = _COPIES if caches == "rotate" else 1
    sets: list[list[Any]] = []
    for copy in range(copies):
        made = seeded_arguments(kernel, kernel.shape, seed + copy)
        sets.append(
            [toolchain.buffer(v) if isinstance(v, np.ndarray) else v for v in made.values()]
        )
    flushed = np.zeros(_FLUSHED_BYTES if caches == "flush" else 0, dtype=np.uint8)

    def make(launcher: Launcher, config: Config) -> Run:
        how = launch_of(kernel, config, kernel.shape)
        turns = itertools.cycle(sets)

        def once() -> float:
            arguments = next(turns)
            flushed.fill(1)
            start = time.perf_counter()
            launcher(how, arguments)
            return time.perf_counter() - start

        once()
        launches = 1 if caches == "flush" else math.ceil(_SHORTEST / max(once(), 1e-7))

        def run() -> float:
            if launches == 1:
                return once()
            start = time.perf_counter()
            for _ in range(launches):
                launcher(how, next(turns))
            return (time.perf_counter() - start) / launches

        return run

    return make

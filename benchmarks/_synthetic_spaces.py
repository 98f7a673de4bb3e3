"""A synthetic search space for replay: tiles of a matrix product on a modeled processor."""

from __future__ import annotations

import math

import numpy as np

from dl_autotune import SearchSpace
from dl_autotune.spaces.recorded import Recording


def tiles() -> Recording:
    """Return a space with failing points and performance cliffs for registers, caches and lanes."""
    space = SearchSpace(
        {
            "tile_m": [8, 16, 32, 48, 64, 96, 128],
            "tile_n": [8, 16, 32, 48, 64, 96, 128],
            "tile_k": [8, 16, 32, 64],
            "rows": [1, 2, 4, 6, 8],
            "lanes": [4, 8, 16],
            "prefetch": [0, 1],
        },
        ["tile_m % rows == 0", "tile_n % lanes == 0"],
    )
    times = np.array([_milliseconds(config) for config in space.configs()])
    runs = tuple(() if math.isnan(time) else (float(time),) for time in times)
    return Recording("imagined", space, times, runs, ("",) * space.size)


def _milliseconds(config: dict[str, object]) -> float:
    m, n, k, rows, lanes, prefetch = (float(str(value)) for value in config.values())
    registers = rows * lanes + rows + lanes + 8 * prefetch
    shared = 4 * k * (m + n) * (1 + prefetch)
    if registers > 160 or shared > 65536:
        return math.nan
    work = 1.0 + 4.0 / rows + 8.0 / lanes
    spills = 3.0 if registers > 96 else 1.0
    loads = (1 / m + 1 / n) * (40.0 if prefetch else 64.0) * (1.0 if k >= 16 else 1.4)
    idle = 1.0 + max(m * n / (rows * lanes) / 256 - 1, 0) * 0.2 + (0.3 if m * n < 1024 else 0.0)
    misaligned = 1.25 if m % 32 or n % 32 else 1.0
    return (work + loads) * spills * idle * misaligned * (1.0 + shared / 262144)

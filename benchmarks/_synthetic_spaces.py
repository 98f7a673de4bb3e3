"""Synthetic search spaces for replay: analytic models of tiled kernels on several devices.

The models are coarse, but have what makes recorded spaces hard: configurations that fail, cliffs at
the limits of registers and shared memory, parameters that matter only together, and devices that
agree about some parameters and not about others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dl_autotune import SearchSpace
from dl_autotune.spaces.recorded import Recording


@dataclass(frozen=True)
class Device:
    """A modeled device.

    :ivar registers: number of registers of a thread before it fails to launch.
    :ivar spill: number of registers from which they spill.
    :ivar shared: bytes of shared memory of a block.
    :ivar lanes: width of a vector or warp, to which tiles should be aligned.
    :ivar memory: cost of a loaded element relative to one of arithmetic.
    :ivar threads: threads that a processor can hold.
    """

    name: str
    registers: int = 160
    spill: int = 96
    shared: int = 65536
    lanes: int = 32
    memory: float = 1.0
    threads: int = 2048


DEVICES = (
    Device("narrow"),
    Device("wide", 255, 168, 98304, 64, 2.0, 1536),
    Device("small", 128, 80, 32768, 16, 0.6, 1024),
)


def synthetic_spaces() -> list[Recording]:
    """Return each kernel on each device; names are ``KERNEL_DEVICE``."""
    return [make(device) for make in (tiles, halo) for device in DEVICES]


def tiles(device: Device = DEVICES[0]) -> Recording:
    """Return tiles of a matrix product."""
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
    return _recorded("tiles", space, device, _milliseconds_of_tiles)


def halo(device: Device = DEVICES[0]) -> Recording:
    """Return blocks of a 7 x 7 convolution on an image, with a halo in shared memory or without."""
    space = SearchSpace(
        {
            "block_x": [8, 16, 32, 48, 64, 128, 256],
            "block_y": [1, 2, 4, 8, 16],
            "work_x": [1, 2, 3, 4, 8],
            "work_y": [1, 2, 4, 8],
            "vector": [1, 2, 4],
            "shared": [0, 1],
            "padding": [0, 1],
            "unroll": [1, 7],
        },
        ["work_x % vector == 0", "padding <= shared", "block_x * block_y >= 32"],
    )
    return _recorded("halo", space, device, _milliseconds_of_halo)


def _recorded(
    kernel: str,
    space: SearchSpace,
    device: Device,
    model: Callable[[Mapping[str, int], Device], float],
) -> Recording:
    times = np.array(
        [model({n: int(str(v)) for n, v in c.items()}, device) for c in space.configs()]
    )
    runs = tuple(() if math.isnan(time) else (float(time),) for time in times)
    return Recording(f"{kernel}_{device.name}", space, times, runs, ("",) * space.size)


def _milliseconds_of_tiles(config: Mapping[str, int], device: Device) -> float:
    m, n, k, rows, lanes, prefetch = config.values()
    registers = rows * lanes + rows + lanes + 8 * prefetch
    shared = 4 * k * (m + n) * (1 + prefetch)
    if registers > device.registers or shared > device.shared:
        return math.nan
    work = 1.0 + 4.0 / rows + 8.0 / lanes
    spills = 3.0 if registers > device.spill else 1.0
    loads = (1 / m + 1 / n) * (40.0 if prefetch else 64.0) * (1.0 if k >= 16 else 1.4)
    idle = 1.0 + max(m * n / (rows * lanes) / 256 - 1, 0) * 0.2 + (0.3 if m * n < 1024 else 0.0)
    misaligned = 1.25 if m % device.lanes or n % device.lanes else 1.0
    crowded = 1.0 + shared / (4 * device.shared)
    return (work + device.memory * loads) * spills * idle * misaligned * crowded


def _milliseconds_of_halo(config: Mapping[str, int], device: Device) -> float:
    block_x, block_y, work_x, work_y, vector, shared, padding, unroll = config.values()
    threads, results = block_x * block_y, work_x * work_y
    registers = 18 + results * (2 + unroll // 4) + 2 * vector * (unroll > 1)
    tile_x, tile_y = block_x * work_x + 6 + padding, block_y * work_y + 6
    bytes_ = 4 * tile_x * tile_y * shared
    if threads > 1024 or registers > device.registers or bytes_ > device.shared:
        return math.nan
    resident = min(
        device.threads // threads,
        65536 // (threads * registers),
        device.shared * 2 // bytes_ if bytes_ else 32,
        32,
    )
    if resident == 0:
        return math.nan
    occupancy = min(resident * threads / device.threads, 1.0)
    arithmetic = (
        49 * (1.0 + 0.35 / unroll + 0.6 / results) * (1.7 if registers > device.spill else 1.0)
    )
    halo_loads = tile_x * tile_y / (threads * results)
    conflicts = 1.6 if shared and not padding and (work_x * 4) % device.lanes == 0 else 1.0
    if shared:
        loads = device.memory * (14 * halo_loads / vector**0.5 + 12 * conflicts)
        loads += 60 / results * (threads > device.lanes)
    else:
        cached = 1.0 if work_x == vector else 1.0 + 0.2 * (work_x / vector - 1)
        loads = device.memory * (49 * 0.5 * cached / work_y**0.5 + 7 * halo_loads)
    lost = 1.3 if block_x % device.lanes else 1.0
    hidden = min(1.0, occupancy * (1 + 0.25 * results**0.5) / 0.7)
    tail = 1.0 + 0.15 * (tile_x > 512) + 0.2 * (tile_y > 64)
    return (max(arithmetic, loads) + 0.4 * min(arithmetic, loads)) * lost * tail / hidden

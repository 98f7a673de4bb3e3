"""A kernel in a worker process, on a device whose vendor compiled it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dl_autotune import Launch as Grid
from dl_autotune import TuningError

from .arguments import Packed
from .device_source import FUNCTION
from .devices import Target, toolchain


class DevicePrepared:
    """Loaded kernel with copies of the arguments on the device, whose arrays have guard bands."""

    def __init__(
        self, on: Target, path: Path, blocks: tuple[int, int], given: list[Packed]
    ) -> None:
        extension = toolchain(on)
        self._launch = extension.load(path.read_bytes(), FUNCTION)
        self._how = Grid(*blocks)
        self._arrays = {
            at: extension.buffer(value)
            for at, value in enumerate(given)
            if not isinstance(value, bytes)
        }
        self._arguments = [
            self._arrays[at] if at in self._arrays else _structure(value)
            for at, value in enumerate(given)
        ]

    def __call__(self) -> float:
        """Launch the kernel, wait for it, and return the time in seconds."""
        start = time.perf_counter()
        self._launch(self._how, self._arguments)
        return time.perf_counter() - start

    def arrays(self) -> dict[int, NDArray[Any]]:
        """Return the current arrays.

        :raises TuningError: the kernel wrote outside an array.
        """
        for at, buffer in self._arrays.items():
            if not buffer.intact():
                raise TuningError(f"it writes outside argument {at}")
        return {at: buffer.read() for at, buffer in self._arrays.items()}


def _structure(value: Packed) -> np.void:
    """Return the bytes of a value as a numpy scalar, which the launcher passes unchanged."""
    assert isinstance(value, bytes)
    found: np.void = np.frombuffer(value, np.dtype((np.void, len(value))))[0]
    return found

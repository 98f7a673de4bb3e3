"""A/A runs: measurement of the machine's noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .race import Race, RaceSettings, race
from .warmup import Run


@dataclass(frozen=True)
class Calibration:
    """Result of races of a callable against itself.

    :ivar noise: relative amount by which all intervals must be widened to contain 1; below 0.01
        on a quiet machine.
    :ivar races: number of races.
    """

    noise: float
    races: int

    @classmethod
    def of(cls, races: list[Race]) -> Calibration:
        """Create from races of a callable against itself."""
        beyond = [max(each.interval.low - 1, 1 / each.interval.high - 1, 0.0) for each in races]
        return cls(max(beyond, default=0.0), len(races))


def calibrate(
    run: Run, settings: RaceSettings | None = None, *, races: int = 5, seed: int
) -> Calibration:
    """Race a callable against itself.

    :raises ValueError: `races` is not positive.
    """
    if races < 1:
        raise ValueError(f"[calibrate] races={races}: must be at least 1")
    found = Calibration.of([race(run, run, settings, seed=seed + i) for i in range(races)])
    assert math.isfinite(found.noise)
    return found

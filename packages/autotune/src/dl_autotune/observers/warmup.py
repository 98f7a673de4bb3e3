"""Warm-up runs until times are stable."""

from __future__ import annotations

import statistics
from collections.abc import Callable

Run = Callable[[], float]
"""Run once and return the seconds it took."""
_WINDOW = 5


def warm_up(run: Run, *, tolerance: float = 0.05, most: int = 50, seconds: float = 2.0) -> int:
    """Run until the medians of the last five runs and of the five before them agree.

    :param tolerance: maximum relative difference.
    :param most: maximum number of runs, in case the machine does not become stable.
    :param seconds: maximum total time of the runs in seconds.
    :returns: the number of runs.
    """
    times: list[float] = []
    while len(times) < most and sum(times) < seconds:
        times.append(run())
        if len(times) >= 2 * _WINDOW:
            before = statistics.median(times[-2 * _WINDOW : -_WINDOW])
            last = statistics.median(times[-_WINDOW:])
            if abs(last - before) <= tolerance * before:
                break
    return len(times)

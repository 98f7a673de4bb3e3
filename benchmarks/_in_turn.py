"""Several ways to do one thing, timed in turn, so that what else the machine does slows all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any


def microseconds_in_turn(
    runs: Mapping[str, Callable[[], Any]],
    repeats: int,
    clock: Callable[[], int] = time.process_time_ns,
) -> dict[str, float]:
    """The median time of each, in microseconds.

    :param clock: which time, in nanoseconds; otherwise the processor's, of all threads together.
    """
    spent: dict[str, list[int]] = {way: [] for way in runs}
    for _ in range(repeats):
        for way, run in runs.items():
            start = clock()
            run()
            spent[way].append(clock() - start)
    return {way: statistics.median(times) / 1000 for way, times in spent.items()}

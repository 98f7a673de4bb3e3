"""Alternating timing of several functions, so that other load on the machine slows all alike."""

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
    """Return the median time of each function, in microseconds.

    :param clock: clock that returns nanoseconds; default: the processor time of all threads
    together.
    """
    spent: dict[str, list[int]] = {way: [] for way in runs}
    for _ in range(repeats):
        for way, run in runs.items():
            start = clock()
            run()
            spent[way].append(clock() - start)
    return {way: statistics.median(times) / 1000 for way, times in spent.items()}

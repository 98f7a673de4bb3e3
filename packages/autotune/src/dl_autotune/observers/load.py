"""How busy a machine is with what is not measured."""

from __future__ import annotations

import os
import time
from pathlib import Path

BUSY = 0.25
"""Processors, from which on a measurement of more than one thread is one of the others' load."""
_STAT = Path("/proc/stat")
_FIELDS_OF_IDLE = (3, 4)  # idle, and waiting for a disk


def processors_in_use(seconds: float = 0.25) -> float:
    """How many processors others keep busy while this process sleeps; 0.0 where the system does not
    tell.

    :param seconds: to look for.
    """
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    if before is None or after is None or after[1] <= before[1]:
        return 0.0
    idle = (after[0] - before[0]) / (after[1] - before[1])
    return max(0.0, 1 - idle) * (os.cpu_count() or 1)


def _ticks() -> tuple[int, int] | None:
    """Return the idle ticks and all ticks, summed over processors."""
    try:
        first = _STAT.read_text(encoding="ascii").partition("\n")[0].split()[1:]
    except OSError:
        return None
    ticks = [int(each) for each in first[:8]]
    return sum(ticks[place] for place in _FIELDS_OF_IDLE), sum(ticks)

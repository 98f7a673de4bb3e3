"""Load of the machine by other processes."""

from __future__ import annotations

import os
import time
from pathlib import Path

BUSY = 0.25
"""Number of processors that others use from which on a multithreaded measurement is invalid."""
_STAT = Path("/proc/stat")
_FIELDS_OF_IDLE = (3, 4)  # idle, and waiting for a disk


def processors_in_use(seconds: float = 0.25) -> float:
    """Return the number of processors that other processes use while this one sleeps, or 0.0 if
    unknown.

    :param seconds: duration of the measurement.
    """
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    if before is None or after is None or after[1] <= before[1]:
        return 0.0
    idle = (after[0] - before[0]) / (after[1] - before[1])
    return max(0.0, 1 - idle) * (os.cpu_count() or 1)


def format_load_warning(in_use: float) -> str:
    """Format a warning about processors that other processes used, or return ""."""
    if in_use < BUSY:
        return ""
    return (
        f"other processes kept {in_use:.1f} of {os.cpu_count()} processors busy: choices with one "
        "thread are discarded, because they may be faster only under that load; tune again when "
        "the machine is quiet"
    )


def _ticks() -> tuple[int, int] | None:
    """Return the idle ticks and all ticks, summed over processors."""
    try:
        first = _STAT.read_text(encoding="ascii").partition("\n")[0].split()[1:]
    except OSError:
        return None
    ticks = [int(each) for each in first[:8]]
    return sum(ticks[place] for place in _FIELDS_OF_IDLE), sum(ticks)

"""Output of the tuners: lines on stdout, the log, and warnings about a kernel's source."""

from __future__ import annotations

import functools
import logging
import os
import shutil
import statistics
import sys
from pathlib import Path

from diopi_proto.text import write_output
from dl_autotune.observers import Race
from dl_autotune.runners.device_lock import DeviceLock
from dl_autotune.spaces.markers import substitute

from .devices import Target

LOG = logging.getLogger("mskpp")
_FORMAT = "[%(levelname)s] %(name)s: %(message)s"


def device_lock(on: Target) -> DeviceLock:
    """Return the lock of a device: a second tuner waits, because it would disturb the measurements
    of the first."""
    return DeviceLock(on.vendor, on.device, waits=True)


def report_line(line: str) -> None:
    """Write a line to the output of the script."""
    write_output(line + "\n")
    sys.stdout.flush()


class SteadyTimes:
    """Times of configurations that have the order of their speedups over the unmodified kernel.

    A machine changes its speed between two races, but each configuration is measured in alternation
    with the unmodified kernel. Its time is that kernel's time in the first race, divided by the
    configuration's speedup.

    :ivar by_number: microseconds by index of the configuration.
    """

    def __init__(self) -> None:
        self.by_number: dict[int, float] = {}
        self._unmodified: float | None = None

    def add(self, number: int, found: Race) -> float:
        """Return the time of a configuration in microseconds."""
        if self._unmodified is None:
            self._unmodified = 1e6 * statistics.median(found.baseline)
        self.by_number[number] = self._unmodified / found.interval.ratio
        return self.by_number[number]

    @property
    def best(self) -> int | None:
        """Return the index of the shortest time; None if there is none."""
        return min(self.by_number, key=lambda number: self.by_number[number], default=None)


def is_debugging() -> bool:
    """Return True if ``MSKPP_LOG_LEVEL`` is 0, and make the log visible then."""
    if os.environ.get("MSKPP_LOG_LEVEL") != "0":
        return False
    LOG.setLevel(logging.DEBUG)
    if not LOG.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(_FORMAT))
        LOG.addHandler(handler)
    return True


def finish_folder(folder: Path, keep: bool) -> None:
    """Remove a folder of generated files, or log that it is kept."""
    if keep:
        LOG.info("generated files are kept in %s", folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def substitute_first(text: str, config: dict[str, str], name: str) -> str:
    """Return a source with the values of a configuration; a key that is marked twice is replaced at
    its first marker, with a warning.

    :raises MarkerError: a key has no marker, or a marker is wrong.
    """
    return substitute(text, config, name, every=False, on_repeat=_warn_once)


@functools.cache
def _warn_once(message: str) -> None:
    """Log a warning about a source once, not for each configuration."""
    LOG.warning("%s", message)

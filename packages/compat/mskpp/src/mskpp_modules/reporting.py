"""Output of the tuners: lines on stdout, the log, and warnings about a kernel's source."""

from __future__ import annotations

import functools
import logging
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from diopi_proto.text import write_output
from dl_autotune.runners.device_lock import DeviceLock
from dl_autotune.spaces.markers import substitute

LOG = logging.getLogger("mskpp")
_FORMAT = "[%(levelname)s] %(name)s: %(message)s"


def device_lock() -> DeviceLock:
    """Return the lock of dl:cpu: a second tuner waits, because it would disturb the measurements
    of the first."""
    return DeviceLock("cpu", 0, waits=True)


def report_line(line: str) -> None:
    """Write a line to the output of the script."""
    write_output(line + "\n")
    sys.stdout.flush()


def report_best(best: int, ratios: Mapping[int, float], microseconds: Mapping[int, float]) -> None:
    """Write the best configuration, and the criterion if another one has the shortest time.

    :param ratios: speedups over the unmodified kernel, measured in alternation with it.
    :param microseconds: the times that were written.
    """
    report_line(f"Best config: No.{best}")
    shortest = min(microseconds, key=lambda each: microseconds[each])
    if shortest != best:
        report_line(
            f"No.{best} has the highest speedup over the unmodified kernel, {ratios[best]:.3f} x, "
            f"measured in alternation with it. No.{shortest} has the shortest time, but a speedup "
            f"of {ratios[shortest]:.3f} x: the machine was faster meanwhile."
        )


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

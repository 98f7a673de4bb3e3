"""Location of the tools' files: one common directory."""

from __future__ import annotations

import functools
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from dl_optools.environment import environment

VARIABLE = "DL_TOOLS_OUTPUT"
DEFAULT = "op_tools_results"


class ResultsError(OSError):
    """Results cannot be written, or were not all written; the message says which and why."""


def results_root(environ: Mapping[str, str] | None = None) -> Path:
    """Return ``DL_TOOLS_OUTPUT``, or ``op_tools_results`` in the working directory."""
    environ = environment() if environ is None else environ
    return Path(environ.get(VARIABLE, "").strip() or DEFAULT)


def results_directory(name: str, instead: Path | None = None) -> Path:
    """Create the directory of one kind of results, such as ``op_capture_results``, and test it:
    it is better to fail at the start.

    :param instead: directory given by the user.
    :raises ResultsError: nothing can be written there.
    """
    directory = results_root() / name if instead is None else instead
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"x")
    except OSError as error:
        raise ResultsError(
            f"no results can be written to {directory.absolute()}: {error.strerror}; "
            f"{VARIABLE} (dl tool --output) names another folder"
        ) from error
    return directory


@functools.cache
def _stamp(process: int) -> str:
    return f"pid{process}_{time.strftime('%Y%m%d_%H%M%S')}"


def run_stamp() -> str:
    """Return ``pid4711_20260131_235959``: the same for all tools of a process."""
    return _stamp(os.getpid())


def unused_path(path: Path) -> Path:
    """Return the path, or the first unused one of ``name_2.ending``, ``name_3.ending`` ..."""
    found, count = path, 1
    while found.exists():
        count += 1
        found = path.with_name(f"{path.stem}_{count}{path.suffix}")
    return found

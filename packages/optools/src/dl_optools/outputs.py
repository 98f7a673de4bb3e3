"""Where tools put their files: one directory for all of them."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "DL_TOOLS_OUTPUT"
DEFAULT = "op_tools_results"


def results_root(environ: Mapping[str, str] = os.environ) -> Path:
    """``DL_TOOLS_OUTPUT``, or ``op_tools_results`` in the working directory."""
    return Path(environ.get(VARIABLE, "").strip() or DEFAULT)


def results_directory(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The directory of one kind of results, such as ``op_capture_results``; it is made."""
    directory = results_root(environ) / name
    directory.mkdir(parents=True, exist_ok=True)
    return directory


@functools.cache
def _stamp(process: int) -> str:
    return f"pid{process}_{time.strftime('%Y%m%d_%H%M%S')}"


def run_stamp() -> str:
    """``pid4711_20260131_235959``: the same for all tools of a process."""
    return _stamp(os.getpid())


def unused(path: Path) -> Path:
    """The path itself, or the first of ``name_2.ending``, ``name_3.ending`` ... that is free."""
    found, count = path, 1
    while found.exists():
        count += 1
        found = path.with_name(f"{path.stem}_{count}{path.suffix}")
    return found

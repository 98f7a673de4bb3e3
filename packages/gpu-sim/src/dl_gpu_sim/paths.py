"""Location of this wheel's driver library."""

from __future__ import annotations

from pathlib import Path


def library_dir() -> Path:
    """Return the folder of ``libcuda.so.1``, to be put first in LD_LIBRARY_PATH."""
    return Path(__file__).parent / "lib"


def library() -> Path:
    """Return the path of the driver library."""
    return library_dir() / "libcuda.so.1"

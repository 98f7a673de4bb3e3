"""Where the driver library of this wheel is."""

from __future__ import annotations

from pathlib import Path


def library_dir() -> Path:
    """The folder of ``libcuda.so.1``: first in LD_LIBRARY_PATH, it is a program's driver."""
    return Path(__file__).parent / "lib"


def library() -> Path:
    """The driver library itself."""
    return library_dir() / "libcuda.so.1"

"""Operator kernels as C++ headers: their location, their operators, and units to compile."""

from __future__ import annotations

from ._paths import include_dir
from ._version import __version__
from .sources import KernelSourceError, families
from .units import write_units
from .uses import with_used

__all__ = [
    "KernelSourceError",
    "__version__",
    "families",
    "include_dir",
    "with_used",
    "write_units",
]

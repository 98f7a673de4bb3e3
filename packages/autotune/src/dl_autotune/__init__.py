"""One tuner of kernels for any vendor: four independent axes.

``strategies`` propose, ``runners`` execute, ``observers`` measure, ``toolchains`` compile; a
strategy sees a :class:`SearchSpace` and numbers, never a device.
"""

from __future__ import annotations

from ._version import __version__
from .errors import DatabaseError, KernelError, MarkerError, SpaceError, TuningError
from .spaces import Config, Constraint, Parameter, SearchSpace, Value

__all__ = [
    "Config",
    "Constraint",
    "DatabaseError",
    "KernelError",
    "MarkerError",
    "Parameter",
    "SearchSpace",
    "SpaceError",
    "TuningError",
    "Value",
    "__version__",
]

"""One tuner of kernels for any vendor: four independent axes.

``strategies`` propose, ``runners`` execute, ``observers`` measure, ``toolchains`` compile; a
strategy sees a :class:`SearchSpace` and numbers, never a device.
"""

from __future__ import annotations

from ._version import __version__
from .errors import DatabaseError, KernelError, MarkerError, SpaceError, TuningError
from .kernel import Expected, Launch, TunableKernel
from .spaces import Config, Constraint, Parameter, SearchSpace, Value

__all__ = [
    "Config",
    "Constraint",
    "DatabaseError",
    "Expected",
    "KernelError",
    "Launch",
    "MarkerError",
    "Parameter",
    "SearchSpace",
    "SpaceError",
    "TunableKernel",
    "TuningError",
    "Value",
    "__version__",
]

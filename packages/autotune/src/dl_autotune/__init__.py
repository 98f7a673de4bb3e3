"""Autotuning of kernels and operators for any vendor, with four independent axes.

``strategies`` propose, ``runners`` execute, ``observers`` measure, and ``toolchains`` compile. A
strategy sees a :class:`SearchSpace` and numbers, never a device.

Importing the package imports none of its parts, because `import torch` loads every plugin.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .errors import DatabaseError, KernelError, MarkerError, SpaceError, TuningError
    from .kernel import Expected, Launch, TunableKernel
    from .spaces import Config, Constraint, Parameter, SearchSpace, Value

_HOME = {
    "Config": "spaces",
    "Constraint": "spaces",
    "DatabaseError": "errors",
    "Expected": "kernel",
    "KernelError": "errors",
    "Launch": "kernel",
    "MarkerError": "errors",
    "Parameter": "spaces",
    "SearchSpace": "spaces",
    "SpaceError": "errors",
    "TunableKernel": "kernel",
    "TuningError": "errors",
    "Value": "spaces",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

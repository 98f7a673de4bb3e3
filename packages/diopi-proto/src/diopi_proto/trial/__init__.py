"""Trial of a vendor library in a child process, before this process loads it.

A trial loads the library, creates an instance, checks its table, and reads its operators, devices
and their properties. :func:`try_library` always runs one; :func:`admitted` is a context manager
around loading a library, and caches successful trials. Importing this is cheap: this process
imports neither cffi nor numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .admission import admitted

if TYPE_CHECKING:
    from .result import Trial, TriedDevice, TriedKernels
    from .run import try_library

_LAZY = {
    "Trial": ".result",
    "TriedDevice": ".result",
    "TriedKernels": ".result",
    "try_library": ".run",
}

__all__ = ["Trial", "TriedDevice", "TriedKernels", "admitted", "try_library"]


def __getattr__(name: str) -> object:
    # Imported on use: `import torch` does not need these if the verdict is cached.
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module, __name__), name)

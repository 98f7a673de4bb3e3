"""Trying a vendor library in a process of its own before anything loads it here.

There is one trial for all: it loads the library, makes an instance, checks its table, and asks for
operators, devices and their properties. :func:`try_library` always tries; :func:`admitted` stands
around loading a library and remembers what went well. Importing this is cheap; neither cffi nor
numpy are imported in this process.
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
    # `import torch` needs none of these where a library was tried before.
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module, __name__), name)

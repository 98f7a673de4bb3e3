"""DIPU's extension of PyTorch: scripts that import it run on the dl device.

The import starts the device, and CUDA mocking unless ``DIPU_MOCK_CUDA=False``.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

# `__path__` gives the module submodules. Python still prefers a package of this name.
__path__ = [str(Path(__file__).with_name("torch_dipu_modules"))]

mockcuda: bool = importlib.import_module("torch_dipu.starting").start()
"""True if ``cuda`` means ``dl`` in this process."""

dipu = importlib.import_module("torch_dipu.dipu")


def __getattr__(name: str) -> Any:
    # DIPU exports the functions of its module `dipu` here too.
    if name.startswith("__"):
        raise AttributeError(f"module 'torch_dipu' has no attribute {name!r}")
    return getattr(dipu, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *dir(dipu)])

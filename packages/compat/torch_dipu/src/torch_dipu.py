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

_REMEDIES = {
    "_C": "torch.dl has the functions of the device",
    "GetDeviceProxy": "torch.device('cuda') is the device while CUDA is mocked",
    "profiler": "torch.profiler records the device",
    "testing": "the wheel dl-torch-tests has torch's tests for the device",
}
"""Names of DIPU that do not exist here, each with what replaces it."""


def __getattr__(name: str) -> Any:
    # DIPU exports the functions of its module `dipu` here too.
    if not name.startswith("__") and hasattr(dipu, name):
        return getattr(dipu, name)
    remedy = _REMEDIES.get(name, "it has the names of torch.dl, and those of torch_dipu.dipu")
    raise AttributeError(f"module 'torch_dipu' has no attribute {name!r}; {remedy}")


def __dir__() -> list[str]:
    return sorted([*globals(), *dir(dipu)])

"""The interface of msKPP's tuner, over dl-autotune."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

# `__path__` gives the module submodules. Python still prefers a package of this name.
__path__ = [str(Path(__file__).with_name("mskpp_modules"))]

_HOMES = {
    "KernelInvokeConfig": "launcher",
    "Launcher": "launcher",
    "compile": "building",
    "compile_executable": "executable",
    "get_kernel_from_binary": "building",
    "autotune": "tuning",
    "autotune_v2": "executable",
    "MskppError": "errors",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    # The tuner is imported on first use.
    if name not in _HOMES:
        raise AttributeError(
            f"module 'mskpp' has no attribute {name!r}; expected {', '.join(_HOMES)}"
        )
    return getattr(importlib.import_module(f"mskpp.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])

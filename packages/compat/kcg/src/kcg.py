"""The interface of DeepGen's tuner of matrix products, over dl-autotune."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

# `__path__` gives the module submodules. Python still prefers a package of this name.
__path__ = [str(Path(__file__).with_name("kcg_modules"))]

_HOMES = {
    "CustomLinear": "ModelUtils",
    "DeviceInfo": "ModelUtils",
    "KcgError": "errors",
    "OpProxy": "TorchInjector",
    "PathManager": "ModelUtils",
    "compare_with_error": "ModelUtils",
    "compile_model": "TorchInjector",
    "create_fixed_embedding": "ModelUtils",
    "evaluate_model_time": "ModelUtils",
    "registerPreCompiledKernelByJson": "TorchInjector",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    # Modules that need torch are imported on first use.
    if name not in _HOMES:
        raise AttributeError(
            f"module 'kcg' has no attribute {name!r}; expected {', '.join(_HOMES)}"
        )
    return getattr(importlib.import_module(f"kcg.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])

"""The operator tools of dl_optools under their names in ditorch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import dl_optools

__version__ = "0.1.0"

# `__path__` gives the module submodules, for `python -m op_tools.process_monitor`. Python still
# prefers a package of this name.
__path__ = [str(Path(__file__).with_name("op_tools_modules"))]

_LOGGED = ("OpAutoCompare", "OpCapture", "OpFallback", "OpTimeMeasure", "apply_feature")
"""Names with the defaults and the log of ditorch, in :mod:`op_tools.logged`."""
_NAMES = {
    **dict.fromkeys(_LOGGED, ""),
    "OpDispatchWatch": "OpObserve",
    "OpDtypeCast": "OpDtypeCast",
    "OpObserve": "OpObserve",
    "OpOverflowCheck": "OpOverflowCheck",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    # Each tool is imported on first use.
    if name not in _NAMES:
        raise AttributeError(
            f"module 'op_tools' has no attribute {name!r}; expected {', '.join(__all__)}"
        )
    if name in _LOGGED:
        return getattr(importlib.import_module("op_tools.logged"), name)
    return getattr(dl_optools, _NAMES[name])


def __dir__() -> list[str]:
    return sorted([*globals(), *_NAMES])

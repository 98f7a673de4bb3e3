"""The operator tools of dl_optools under their names in ditorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dl_optools

__version__ = "0.1.0"

# `__path__` gives the module submodules, for `python -m op_tools.process_monitor`. Python still
# prefers a package of this name.
__path__ = [str(Path(__file__).with_name("op_tools_modules"))]

_NAMES = {
    "OpAutoCompare": "OpAutoCompare",
    "OpCapture": "OpCapture",
    "OpDispatchWatch": "OpObserve",
    "OpDtypeCast": "OpDtypeCast",
    "OpFallback": "OpFallback",
    "OpObserve": "OpObserve",
    "OpOverflowCheck": "OpOverflowCheck",
    "OpTimeMeasure": "OpTimeMeasure",
    "apply_feature": "apply_feature",
}

__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    # Each tool is imported on first use.
    if name not in _NAMES:
        raise AttributeError(
            f"module 'op_tools' has no attribute {name!r}; expected {', '.join(_NAMES)}"
        )
    return getattr(dl_optools, _NAMES[name])


def __dir__() -> list[str]:
    return sorted([*globals(), *_NAMES])

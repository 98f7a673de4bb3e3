"""Tools for the operators of a program, on any torch device.

    >>> from dl_optools import OpAutoCompare
    >>> with OpAutoCompare():
    ...     loss = model(batch).sum()
    ...     loss.backward()

Importing this package does not import torch; torch is imported when a tool is first accessed.
"""

from __future__ import annotations

import importlib
from typing import Any

from dl_optools._version import __version__

_HOME = {
    "Applied": "patching",
    "OneIter": "one_iter.recording",
    "OpAutoCompare": "compare.autocompare",
    "OpCapture": "capture.capture",
    "OpDtypeCast": "dtype_cast",
    "OpFallback": "fallback",
    "OpObserve": "observe",
    "OpOverflowCheck": "overflow.overflow_check",
    "OpTimeMeasure": "timing.time_measure",
    "ProcessMonitor": "monitor.process_monitor",
    "apply_feature": "patching",
    "step": "steps",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dl_optools' has no attribute {name!r}")
    return getattr(importlib.import_module(f"dl_optools.{_HOME[name]}"), name)

"""The tools by the names under which users ask for them."""

from __future__ import annotations

import importlib
from typing import Any

from dl_optools.tool import Tool

TOOLS = {
    "op_capture": "dl_optools.capture.capture:OpCapture",
    "fallback": "dl_optools.fallback:OpFallback",
    "autocompare": "dl_optools.compare.autocompare:OpAutoCompare",
    "measure_op_time": "dl_optools.timing.measure:OpTimeMeasure",
    "dump_op_args": "dl_optools.observe:OpObserve",
    "cast_dtype": "dl_optools.dtype_cast:OpDtypeCast",
    "overflow_check": "dl_optools.overflow.overflow:OpOverflowCheck",
}
"""Feature names, as ``apply_feature`` and ``dl tool`` know them, and where the tools stand."""


def tool_class(feature: str) -> type[Tool]:
    """The class behind a feature's name.

    :raises ValueError: there is none.
    """
    if feature not in TOOLS:
        raise ValueError(f"{feature!r} is no feature of dl-optools; there are {', '.join(TOOLS)}")
    module, _, name = TOOLS[feature].partition(":")
    found: type[Tool] = getattr(importlib.import_module(module), name)
    return found


def make_tool(feature: str, **options: Any) -> Tool:
    """Construct a tool by its feature's name; options are those of :class:`Tool`."""
    return tool_class(feature)(**options)

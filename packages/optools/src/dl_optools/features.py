"""Registry of the tools by their public names."""

from __future__ import annotations

import importlib
from typing import Any

from dl_optools.launching.launch import TOOL_NAMES
from dl_optools.tool import Tool

TOOLS = {each.feature: each.home for each in TOOL_NAMES}
"""Feature names, as ``apply_feature`` uses them, and the classes of the tools."""


def tool_class(feature: str) -> type[Tool]:
    """Return the class of a feature.

    :raises ValueError: the feature is unknown.
    """
    if feature not in TOOLS:
        known = ", ".join(TOOLS)
        raise ValueError(f"{feature!r} is not a feature of dl-optools, which has {known}")
    module, _, name = TOOLS[feature].partition(":")
    found: type[Tool] = getattr(importlib.import_module(module), name)
    return found


def make_tool(feature: str, **options: Any) -> Tool:
    """Construct a tool by its feature's name; options are those of :class:`Tool`."""
    return tool_class(feature)(**options)

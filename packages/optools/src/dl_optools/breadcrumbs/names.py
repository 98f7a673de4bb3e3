"""Names that a command and the programs it starts share. Imports no torch."""

from __future__ import annotations

BREADCRUMBS = "breadcrumbs"
"""Name of the tool :class:`.recorder.OpBreadcrumbs` in ``DL_TOOLS``."""
FOLDER_VARIABLE = "DL_TOOLS_BREADCRUMBS"
SYNCHRONOUS_VARIABLE = "DL_TOOLS_SYNCHRONOUS"
FATAL_SUFFIX = ".fatal"

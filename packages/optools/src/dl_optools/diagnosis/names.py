"""Names that the command and the program share. Imports no torch."""

from __future__ import annotations

PROBE = "probe"
"""What ``DL_TOOLS`` calls the tool of :mod:`.diagnosis.probe`."""
GRAPHS = "graphs"
"""Name of the tool :class:`.graph_check.GraphCheck` in ``DL_TOOLS``."""
INSIDE_VARIABLE = "OP_PROBE_INSIDE"
"""Set to 1: the probe only records which operators run inside others."""
EVERY_VARIABLE = "OP_PROBE_EVERY"
"""Calls of a signature of which the probe looks at one."""

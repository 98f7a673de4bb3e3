"""Names that the command and the program share. Imports no torch."""

from __future__ import annotations

PROBE = "probe"
"""Name of the tool :class:`.probe.OpProbe` in ``DL_TOOLS``."""
GRAPHS = "graphs"
"""Name of the tool :class:`.graph_check.GraphCheck` in ``DL_TOOLS``."""
INSIDE_VARIABLE = "OP_PROBE_INSIDE"
"""Set to 1: the probe only records which operators call which other operators."""
EVERY_VARIABLE = "OP_PROBE_EVERY"
"""Sampling interval of the probe: it examines every n-th call of a signature."""

"""Patterns that rewrite sequences of calls into calls of fused operators, one per file.

:mod:`.pattern` defines the interface. Other wheels add patterns by the hook ``dl_graph_patterns``.
"""

from __future__ import annotations

from dl_dicp.patterns.pattern import Case, Cases, Declined, Match, Pattern
from dl_dicp.patterns.sequence import Calls, same_sizes

__all__ = ["Calls", "Case", "Cases", "Declined", "Match", "Pattern", "same_sizes"]

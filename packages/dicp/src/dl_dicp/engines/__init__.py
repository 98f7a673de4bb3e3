"""Engines that run contract graphs: dl-graph's executor, dl-dicp's engines, and those of plugins.

A wheel implements :mod:`.interface`; this package does not change for a new engine.
"""

from __future__ import annotations

from dl_dicp.engines.interface import GraphEngine, RejectedError, Runner

__all__ = ["GraphEngine", "RejectedError", "Runner"]

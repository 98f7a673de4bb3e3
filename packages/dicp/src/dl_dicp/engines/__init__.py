"""Engines that run contract graphs: dl-graph's executor, dl-dicp's engines, and those of plugins.

:mod:`.interface` is what a wheel implements; nothing in here has to change for a new one.
"""

from __future__ import annotations

from dl_dicp.engines.interface import GraphEngine, RejectedError, Runner

__all__ = ["GraphEngine", "RejectedError", "Runner"]

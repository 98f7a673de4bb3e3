"""Engines that run contract graphs: the executor of dl-graph, our own, and those of other wheels.

:mod:`.interface` is what a wheel implements; nothing in here has to change for a new one.
"""

from __future__ import annotations

from dl_dicp.engines.interface import GraphEngine, RejectedError, Runner

__all__ = ["GraphEngine", "RejectedError", "Runner"]

"""Keep compiled graphs alive until the reports at the end of a program are written.

This module does not import torch: the commands use it before the program runs, and the program may
set environment variables that torch reads on import.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_graphs: list[object] | None = None


@contextmanager
def retain_graphs() -> Iterator[None]:
    """Context manager that keeps graphs created in its block alive until it ends."""
    global _graphs
    before, _graphs = _graphs, []
    try:
        yield
    finally:
        _graphs = before


def keep(graph: object) -> None:
    """Keep a graph; called with each new graph."""
    if _graphs is not None:
        _graphs.append(graph)

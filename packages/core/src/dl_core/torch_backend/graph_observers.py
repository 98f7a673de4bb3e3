"""Seam between compilers of graphs and tools that check what these compile.

A compiler passes each compiled graph through :func:`observed`; without a tool that is the graph
itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.fx import GraphModule

GraphCall = Callable[[list[Any]], Any]
"""A compiled graph: takes a list of arguments, as AOTAutograd passes it, and returns a list."""
Compile = Callable[[GraphModule], GraphCall]
Observer = Callable[[GraphModule, str, GraphCall, Compile], GraphCall]
"""Gets the graph, its kind (``forward``, ``backward``, ``inference``), its compiled form, and a
function that compiles a part of the graph without checks; returns what the program calls."""

_observers: list[Observer] = []


def add_observer(observer: Observer) -> None:
    """Send graphs that are compiled from now on through an observer."""
    _observers.append(observer)


def remove_observer(observer: Observer) -> None:
    """Undo :func:`add_observer`."""
    _observers.remove(observer)


def observed(module: GraphModule, kind: str, call: GraphCall, compile_part: Compile) -> GraphCall:
    """Return what the program calls in place of a compiled graph."""
    for observer in _observers:
        call = observer(module, kind, call, compile_part)
    return call

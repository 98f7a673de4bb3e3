"""Interface between graph compilers and tools that check compiled graphs.

A compiler passes each compiled graph to :func:`observe`, which returns the graph itself if no
tool observes graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.fx import GraphModule

GraphCall = Callable[[list[Any]], Any]
"""A compiled graph: takes and returns a list, like functions of AOTAutograd."""
Compile = Callable[[GraphModule], GraphCall]
Observer = Callable[[GraphModule, str, GraphCall, Compile], GraphCall]
"""Called with the graph, its kind (``forward``, ``backward``, ``inference``), its compiled form,
and a function that compiles a part of the graph without checks. Returns the function that the
program calls."""

_observers: list[Observer] = []


def add_observer(observer: Observer) -> None:
    """Pass all graphs that are compiled from now on to an observer."""
    _observers.append(observer)


def remove_observer(observer: Observer) -> None:
    """Undo :func:`add_observer`."""
    _observers.remove(observer)


def observe(module: GraphModule, kind: str, call: GraphCall, compile_part: Compile) -> GraphCall:
    """Return the function that the program calls instead of a compiled graph."""
    for observer in _observers:
        call = observer(module, kind, call, compile_part)
    return call

"""Contract graphs: contract operators with symbolic sizes, views, state and generators in a file.

A graph is built with :class:`GraphBuilder` or loaded from a ``.dlg`` file, and runs on any vendor
in a :class:`Session`, without torch. The verifier, the planner and the executor are C++
(``dl/contract_graph.h``): what Python and what C loads goes through the same checks.
"""

from __future__ import annotations

from .bound import BoundRun
from .builder import EntryBuilder, GraphBuilder, Shared, Value
from .expression import Expression, maximum, minimum
from .file import ConstantTensor, pack
from .input_file import read_inputs
from .model import ContractGraph, PlanReport, TilingReport, load, read
from .session import Session
from .show import show

__all__ = [
    "BoundRun",
    "ConstantTensor",
    "ContractGraph",
    "EntryBuilder",
    "Expression",
    "GraphBuilder",
    "PlanReport",
    "Session",
    "Shared",
    "TilingReport",
    "Value",
    "load",
    "maximum",
    "minimum",
    "pack",
    "read",
    "read_inputs",
    "show",
]

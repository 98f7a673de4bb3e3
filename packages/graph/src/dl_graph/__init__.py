"""Contract graphs: contract operators with symbolic sizes, views, state and generators in a file.

A graph is built with :class:`GraphBuilder` or loaded from a ``.dlg`` file, and runs on any vendor
in a :class:`Session`, without torch. The verifier, the planner and the executor are written in C++
(``dl/contract_graph.h``), so Python and C programs load graphs through the same checks.
"""

from __future__ import annotations

from ._paths import graph_library, include_dir
from ._version import __version__
from .bound import BoundRun
from .builder import EntryBuilder, GraphBuilder
from .errors import GraphError
from .expression import Expression, maximum, minimum
from .file import ConstantTensor, pack
from .input_file import read_inputs
from .model import ContractGraph, PlanReport, TilingReport, load, read
from .session import Session
from .show import show
from .value import Shared, Value

__all__ = [
    "BoundRun",
    "ConstantTensor",
    "ContractGraph",
    "EntryBuilder",
    "Expression",
    "GraphBuilder",
    "GraphError",
    "PlanReport",
    "Session",
    "Shared",
    "TilingReport",
    "Value",
    "__version__",
    "graph_library",
    "include_dir",
    "load",
    "maximum",
    "minimum",
    "pack",
    "read",
    "read_inputs",
    "show",
]

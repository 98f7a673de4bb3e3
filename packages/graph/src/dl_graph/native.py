"""``libdl_graph.so``: verifier, planner and executor of graphs, for Python and for C."""

from __future__ import annotations

from functools import cache
from typing import Any

from diopi_proto.header_constants import HeaderConstants
from diopi_proto.package_files import open_library

from . import _ffi_gen
from ._paths import graph_library
from .errors import GraphError

# cffi's objects have no static types.
ffi: Any = _ffi_gen.ffi
constants = HeaderConstants(ffi)
"""Namespace with the enumerators and integer macros of the contract and of dl-graph."""


@cache
def native() -> Any:
    """Return the library, loaded once.

    :raises GraphError: the library is missing or cannot be loaded.
    """
    return open_library(ffi, graph_library(), "dl-graph", GraphError)

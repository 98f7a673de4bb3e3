"""``libdl_graph.so``: verifier, planner and executor of graphs, for Python and for C."""

from __future__ import annotations

from functools import cache
from typing import Any

from . import _ffi_gen
from ._paths import graph_library
from .errors import GraphError

# cffi's objects have no static types.
ffi: Any = _ffi_gen.ffi
constants: Any = ffi.dlopen(None)
"""Enumerators and integer macros of the contract and of graphs as attributes."""


@cache
def native() -> Any:
    """Return the library, loaded once.

    :raises GraphError: the library is missing or cannot be loaded.
    """
    path = graph_library()
    if not path.is_file():
        raise GraphError(
            f"contract graphs need {path}, which is missing. The wheel of dl-graph has it; in a "
            "source checkout run `python setup.py build_ext --inplace`."
        )
    try:
        return ffi.dlopen(str(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL | ffi.RTLD_NODELETE)
    except OSError as error:
        raise GraphError(f"cannot load {path}: {error}") from error

"""Locations of the package's own files, installed or in a source checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


def include_dir() -> Path:
    """Return the folder to pass to a C compiler with ``-I`` after that of the contract."""
    installed = _PACKAGE / "include"
    return installed if installed.is_dir() else _CHECKOUT / "include"


def graph_library() -> Path:
    """Return the path of ``libdl_graph.so``, which exists where the package was built."""
    return _PACKAGE / "lib" / "libdl_graph.so"

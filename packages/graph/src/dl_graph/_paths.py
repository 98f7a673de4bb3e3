"""Locations of the package's own files, installed or in a source checkout."""

from __future__ import annotations

from pathlib import Path

from diopi_proto.package_files import headers_of

_PACKAGE = Path(__file__).resolve().parent


def include_dir() -> Path:
    """Return the folder to pass to a C compiler with ``-I`` after the contract's folder."""
    return headers_of(_PACKAGE)


def graph_library() -> Path:
    """Return the path of ``libdl_graph.so``, which exists if the package was built."""
    return _PACKAGE / "lib" / "libdl_graph.so"

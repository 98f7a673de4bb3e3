"""Instrumented libraries that replace the installed ones, if ``tools/nox -s sanitize`` has compiled
them with sanitizers.
"""

from __future__ import annotations

import os
from pathlib import Path

from dl_graph import native

GRAPH_LIBRARY = "FUZZ_GRAPH_LIBRARY"
"""Environment variable: path of another libdl_graph.so."""
VENDOR_FLAGS = "FUZZ_VENDOR_FLAGS"
"""Environment variable: further compiler flags for vendors that are built for cases."""


def use_graph_library() -> bool:
    """Use the library that the variable names; return False if it is not set."""
    named = os.environ.get(GRAPH_LIBRARY)
    if named is None:
        return False
    native.graph_library = lambda: Path(named)
    return True


def vendor_flags() -> list[str]:
    return os.environ.get(VENDOR_FLAGS, "").split()

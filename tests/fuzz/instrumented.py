"""What cases run on in place of what is installed, where ``tools/nox -s sanitize`` has compiled it
with sanitizers."""

from __future__ import annotations

import os
from pathlib import Path

from diopi_proto import _native

HOST_LIBRARY = "FUZZ_HOST_LIBRARY"
"""The variable that names another libdl_host.so."""
VENDOR_FLAGS = "FUZZ_VENDOR_FLAGS"
"""That with the compiler's further flags for vendors that are made for cases."""


def use_host_library() -> bool:
    """Take the library that the variable names; returns whether there is one."""
    named = os.environ.get(HOST_LIBRARY)
    if named is None:
        return False
    _native.host_library = lambda: Path(named)
    return True


def vendor_flags() -> list[str]:
    return os.environ.get(VENDOR_FLAGS, "").split()

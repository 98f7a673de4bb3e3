"""Parts of the SDK that operators need: CNNL, and its header, which has enumerations' values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

USUAL_ROOT = "/usr/local/neuware"
"""Folder where installers put the SDK; the same is in ``csrc/runtime/driver.cpp``."""
STATUS = "experimental: never compiled against CNNL's header"
"""Restriction that README, `dl doctor` and reports state."""


def libraries(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the location of each part by name, or how to install it."""
    root = Path(environ.get("NEUWARE_HOME") or USUAL_ROOT)
    library, header = root / "lib64" / "libcnnl.so", root / "include" / "cnnl.h"
    missing = "not found in $NEUWARE_HOME: install CNNL and set NEUWARE_HOME"
    return {
        "CNNL": f"{library if library.is_file() else missing} ({STATUS})",
        "CNNL's header": str(header) if header.is_file() else missing,
    }

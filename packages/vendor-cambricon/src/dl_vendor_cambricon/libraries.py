"""Parts of the SDK that operators need: CNNL, and its header, which has enumerations' values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from diopi_proto.operator_library import describe_functions

FUNCTIONS = Path(__file__).with_name("functions.json")
"""The functions of CNNL, and the operators that call them."""
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
        "functions of CNNL": describe_functions(
            FUNCTIONS, folders=[root / "lib64"], environ=environ
        ),
        "CNNL's header": str(header) if header.is_file() else missing,
    }

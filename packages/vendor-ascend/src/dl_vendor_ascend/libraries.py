"""CANN's optional libraries: where each is installed, or how to install it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from diopi_proto.companions import Companion, Finder
from diopi_proto.operator_library import describe_functions

from .presence import DRIVER

FUNCTIONS = Path(__file__).with_name("functions.json")
"""The functions of the operator library, and the operators that call them."""
FINDER = Finder(packages=Path(__file__).parents[1], driver=DRIVER, switch="DL_ASCEND_LIBRARIES")
COMPANIONS = (
    Companion(
        "aclrtc",
        "DL_ASCEND_RTC",
        ("libacl_rtc.so",),
        "CANN's toolkit",
        "compiles kernels from source",
        with_any_driver=True,
    ),
    Companion(
        "HCCL",
        "DL_ASCEND_HCCL",
        ("libhccl.so",),
        "CANN's toolkit",
        "collectives between NPUs",
    ),
    Companion(
        "MSPTI",
        "DL_ASCEND_MSPTI",
        ("libmspti.so",),
        "CANN's toolkit",
        "records device activity",
    ),
)


def libraries(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the location of each library by name, or how to install it."""
    # The same variables are read by csrc/operators/library.h.
    roots = (environ.get(name) for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"))
    folders = [Path(root) / "lib64" for root in roots if root]
    return {
        **FINDER.states(COMPANIONS, environ),
        "functions of aclnn": describe_functions(FUNCTIONS, folders=folders, environ=environ),
    }

"""CANN's optional libraries: where each is installed, or how to install it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from diopi_proto.companions import Companion, Finder

from .presence import DRIVER

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
    return FINDER.states(COMPANIONS, environ)

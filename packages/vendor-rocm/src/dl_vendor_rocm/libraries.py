"""Which of ROCm's libraries are here that the vendor uses where they are installed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from diopi_proto.companions import Companion, Finder

from .presence import DRIVER

FINDER = Finder(
    packages=Path(__file__).parents[1],
    driver=DRIVER,
    switch="DL_ROCM_LIBRARIES",
    folders=("/opt/rocm/lib",),
)
COMPANIONS = (
    Companion(
        "hipBLASLt",
        "DL_ROCM_HIPBLASLT",
        ("libhipblaslt.so.1", "libhipblaslt.so.0"),
        "ROCm's package hipblaslt",
        "multiplies matrices",
        computes=True,
    ),
    Companion(
        "MIOpen",
        "DL_ROCM_MIOPEN",
        ("libMIOpen.so.1",),
        "ROCm's package miopen-hip",
        "convolves",
        computes=True,
    ),
)


def libraries(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """By name, where each library is, or how to have it."""
    return FINDER.states(COMPANIONS, environ)

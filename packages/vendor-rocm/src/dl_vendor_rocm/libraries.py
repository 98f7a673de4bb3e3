"""ROCm's optional libraries: where each is installed, or how to install it."""

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
        "hipRTC",
        "DL_ROCM_HIPRTC",
        ("libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5"),
        "ROCm's package hip-runtime-amd",
        "compiles kernels from source",
        with_any_driver=True,
    ),
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
    Companion(
        "RCCL",
        "DL_ROCM_RCCL",
        ("librccl.so.1",),
        "ROCm's package rccl",
        "connects GPUs",
    ),
    Companion(
        "ROCTracer",
        "DL_ROCM_ROCTRACER",
        ("libroctracer64.so.4",),
        "ROCm's package roctracer",
        "records device activity",
    ),
)


def libraries(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the location of each library by name, or how to install it."""
    return FINDER.states(COMPANIONS, environ)

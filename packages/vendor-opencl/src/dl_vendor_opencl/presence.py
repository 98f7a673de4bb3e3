"""Detection of OpenCL drivers without loading a library.

``import torch`` calls this, so the module imports almost nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

DRIVER = "DL_OPENCL_DRIVER"
"""Variable that names drivers other than the system's; the library reads it too."""
REGISTRY = "/etc/OpenCL/vendors"
"""Folder with the names of the installed drivers. ``csrc/runtime/driver.cpp`` has it too."""
GPU_FILES = ("/dev/dri", "/dev/dxg", "/dev/kfd", "/dev/nvidiactl")
"""Device files of GPUs. Without one, a driver can only be for the CPU."""
INTEL_WHEEL = Path(__file__).parents[3] / "libintelocl.so"
"""Intel's runtime for CPUs, where its wheel puts it in the same environment."""


def present(environ: Mapping[str, str] = os.environ) -> bool:
    """Return True if a driver is installed or named.

    A runtime for CPUs takes part only if ``DL_VENDORS`` names this vendor: it would otherwise
    replace the CPU reference, which is faster. The library's own `present` reports the reason if
    there is no driver.
    """
    if environ.get(DRIVER):
        return True
    named = "opencl" in environ.get("DL_VENDORS", "").replace(" ", "").split(",")
    if not named and not any(map(os.path.exists, GPU_FILES)):
        return False
    if environ.get("OCL_ICD_FILENAMES") or INTEL_WHEEL.is_file():
        return True
    registry = environ.get("OCL_ICD_VENDORS") or REGISTRY
    return registry.endswith((".icd", ".so")) or _has_icd_file(registry)


def _has_icd_file(folder: str) -> bool:
    try:
        return any(path.suffix == ".icd" for path in Path(folder).iterdir())
    except OSError:
        return False

"""Detection of GPUs without loading a library.

``import torch`` calls this, so the module imports almost nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

DRIVER = "DL_ROCM_DRIVER"
"""Variable that names a driver other than ROCm's; the library reads it too."""
DEVICE_FILES = ("/dev/kfd", "/dev/dxg")
"""Device files of the kernel drivers: amdgpu's file, and the file of the Windows Subsystem for
Linux.

The same list is in ``csrc/runtime/driver.cpp``."""
FOLDER = Path(__file__).parent / "lib"
"""Folder of the wheel's libraries."""
SIMULATOR = FOLDER / "libamdhip64.so"
"""Driver of simulated devices, in wheels built for them."""


def present(environ: Mapping[str, str] = os.environ) -> bool:
    """Return True if a GPU seems to be present or a driver is named, which may not need a GPU.

    The library's own `present` checks more and reports the reason.
    """
    return bool(environ.get(DRIVER)) or any(map(os.path.exists, DEVICE_FILES))


def simulated() -> dict[str, str]:
    """Return the variables that select the wheel's fake driver, which runs g++'s kernels.

    :raises RuntimeError: the wheel's kernels are for GPUs.
    """
    if not SIMULATOR.is_file():
        raise RuntimeError(
            "this dl-vendor-rocm contains machine code for AMD GPUs, which simulated devices "
            "cannot run; build one for simulated devices in a checkout of the repository: "
            "`DL_ROCM_ARCH=emulated pip wheel --no-deps packages/vendor-rocm`"
        )
    return {DRIVER: str(SIMULATOR)}

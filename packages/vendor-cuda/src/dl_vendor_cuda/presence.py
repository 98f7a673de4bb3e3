"""Detection of GPUs without loading a library.

``import torch`` calls this, so the module imports almost nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

DRIVER = "DL_CUDA_DRIVER"
"""Variable that names a driver other than ``libcuda.so.1``; the library reads it too."""
DEVICE_FILES = ("/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu")
"""Device files of the kernel drivers: on PCs and servers, in the Windows Subsystem for Linux, on a
Jetson. The same list is in ``csrc/runtime/driver.cpp``."""


def present(environ: Mapping[str, str] = os.environ) -> bool:
    """Return True if a GPU seems to be present or a driver is named, which may not need a GPU.

    The library's own `present` checks more and reports the reason.
    """
    return bool(environ.get(DRIVER)) or any(map(os.path.exists, DEVICE_FILES))


def simulated() -> dict[str, str]:
    """Return the variables that select dl-gpu-sim as the driver, which runs the library's PTX.

    :raises RuntimeError: dl-gpu-sim is not installed.
    """
    try:
        from dl_gpu_sim.paths import library
    except ImportError:
        raise RuntimeError(
            "dl-gpu-sim, which runs the PTX of this wheel, is not installed; install it with "
            "`pip install dl-gpu-sim` (a dl-vendor-cuda that was built without PTX cannot use it)"
        ) from None
    return {DRIVER: str(library())}

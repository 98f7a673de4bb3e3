"""Whether there is a card, found out without loading anything. Imports next to nothing, because
``import torch`` asks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

DRIVER = "DL_CUDA_DRIVER"
"""The variable that names another library than ``libcuda.so.1``, which the library reads, too."""
DEVICE_FILES = ("/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu")
"""Of the driver in the kernel: on PCs and servers, in Windows' subsystem for Linux, on a Jetson.
``csrc/runtime/driver.cpp`` has the same."""


def present(environ: Mapping[str, str] = os.environ) -> bool:
    """A card seems to be there, or a driver is named that needs none. The library's own `present`
    says more, and why not."""
    return bool(environ.get(DRIVER)) or any(map(os.path.exists, DEVICE_FILES))


def simulated() -> dict[str, str]:
    """What makes dl-gpu-sim the driver: it runs the library's PTX.

    :raises RuntimeError: it is not installed.
    """
    try:
        from dl_gpu_sim.paths import library
    except ImportError:
        raise RuntimeError(
            "dl-gpu-sim is not installed: `pip install dl-gpu-sim`; it takes a library with PTX, "
            "which is what a plain build makes"
        ) from None
    return {DRIVER: str(library())}

"""Whether there is a card, found out without loading anything. Imports next to nothing, because
``import torch`` asks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

DRIVER = "DL_ROCM_DRIVER"
"""The variable that names another library than ROCm's own, which the library reads, too."""
DEVICE_FILES = ("/dev/kfd", "/dev/dxg")
"""Of the driver in the kernel: amdgpu's, and that of Windows' subsystem for Linux.
``csrc/runtime/driver.cpp`` has the same."""
FOLDER = Path(__file__).parent / "lib"
"""Of the wheel's libraries."""
SIMULATOR = FOLDER / "libamdhip64.so"
"""The driver of simulated cards, in wheels that are built for them alone."""


def present(environ: Mapping[str, str] = os.environ) -> bool:
    """A card seems to be there, or a driver is named that needs none. The library's own `present`
    says more, and why not."""
    return bool(environ.get(DRIVER)) or any(map(os.path.exists, DEVICE_FILES))


def simulated() -> dict[str, str]:
    """What makes the fake driver in the wheel the driver: it runs kernels that g++ made.

    :raises RuntimeError: the wheel's kernels are for cards.
    """
    if not SIMULATOR.is_file():
        raise RuntimeError(
            "the kernels of this dl-vendor-rocm are machine code of AMD's cards, which nothing "
            "else runs; build one for simulated cards, in a checkout of the repository: "
            "`DL_ROCM_ARCH=emulated pip wheel --no-deps packages/vendor-rocm`"
        )
    return {DRIVER: str(SIMULATOR)}

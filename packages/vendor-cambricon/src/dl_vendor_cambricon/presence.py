"""Detection of MLUs without loading a library.

``import torch`` calls this, so the module imports almost nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

DRIVER = "DL_CAMBRICON_DRIVER"
"""Variable that names another runtime library than libcnrt.so; the library reads it too."""
DEVICE_FILES = ("/dev/cambricon_ctl",)
"""Device files of the kernel driver; the same list is in ``csrc/runtime/driver.cpp``."""
FOLDER = Path(__file__).parent / "lib"
"""Folder of the wheel's libraries."""
SIMULATED = FOLDER / "simulated"
"""Root of the fakes of the SDK's libraries, like NEUWARE_HOME, in wheels built with them."""


def present(environ: Mapping[str, str] = os.environ) -> bool:
    """Return True if an MLU seems to be present or a runtime library is named, which may need none.

    The library's own `present` checks more and reports the reason.
    """
    return bool(environ.get(DRIVER)) or any(map(os.path.exists, DEVICE_FILES))


def simulated() -> dict[str, str]:
    """Return the variables that select the wheel's fakes of the SDK's libraries.

    :raises RuntimeError: the wheel was built without them, or dl-vendor-cpu, with whose operators
        the fake operator library computes, is not installed.
    """
    runtime = SIMULATED / "lib64" / "libcnrt.so"
    if not runtime.is_file():
        raise RuntimeError(
            "this dl-vendor-cambricon contains no fakes of the SDK's libraries; build one with "
            "them in a checkout of the repository: "
            "`DL_CAMBRICON_SIMULATED=1 pip wheel --no-deps packages/vendor-cambricon`"
        )
    try:
        from dl_vendor_cpu.plugin import dl_vendor
    except ImportError as error:
        raise RuntimeError(
            "the fake operator library computes with dl-vendor-cpu: `pip install dl-vendor-cpu`"
        ) from error
    return {
        DRIVER: str(runtime),
        "NEUWARE_HOME": str(SIMULATED),
        "FAKE_ENGINE": str(dl_vendor().library),
    }

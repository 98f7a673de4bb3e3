"""Plugin of entry point ``cuda``, which describes the wheel's library without loading it."""

from __future__ import annotations

from pathlib import Path

import pluggy

from diopi_proto.descriptor import VendorDescriptor, require_library

from ._version import __version__
from .libraries import libraries
from .presence import present, simulated

hookimpl = pluggy.HookimplMarker("dl")

_LIBRARY = Path(__file__).parent / "lib" / "libdl_vendor_cuda.so"


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """Describe the library, which a host opens only if a GPU seems to be present.

    :raises FileNotFoundError: the wheel has no library.
    """
    return VendorDescriptor(
        name="cuda",
        library=require_library(_LIBRARY, "nvcc"),
        version=__version__,
        priority=100,
        present=present,
        simulated=simulated,
        libraries=libraries,
    )

"""Plugin of entry point ``rocm``, which describes the wheel's library without loading it."""

from __future__ import annotations

import pluggy

from diopi_proto.descriptor import VendorDescriptor, require_library

from ._version import __version__
from .libraries import libraries
from .presence import FOLDER, present, simulated

hookimpl = pluggy.HookimplMarker("dl")

_LIBRARY = FOLDER / "libdl_vendor_rocm.so"


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """Describe the library, which a host opens only if a GPU seems to be present.

    :raises FileNotFoundError: the wheel has no library.
    """
    return VendorDescriptor(
        name="rocm",
        library=require_library(_LIBRARY, "hipcc"),
        version=__version__,
        priority=100,
        present=present,
        simulated=simulated,
        libraries=libraries,
    )

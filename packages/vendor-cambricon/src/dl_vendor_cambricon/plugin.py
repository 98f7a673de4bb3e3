"""Plugin of entry point ``cambricon``, which describes the wheel's library without loading it."""

from __future__ import annotations

import pluggy

from diopi_proto.descriptor import VendorDescriptor, require_library

from ._version import __version__
from .libraries import STATUS, libraries
from .presence import FOLDER, present, simulated

hookimpl = pluggy.HookimplMarker("dl")

_LIBRARY = FOLDER / "libdl_vendor_cambricon.so"


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """Describe the library, which a host opens only if an MLU seems to be present.

    :raises FileNotFoundError: the wheel has no library.
    """
    return VendorDescriptor(
        name="cambricon",
        library=require_library(_LIBRARY, "g++"),
        version=__version__,
        priority=100,
        present=present,
        simulated=simulated,
        libraries=libraries,
        status=STATUS,
    )

"""Plugin of entry point ``opencl``, which describes the wheel's library without loading it."""

from __future__ import annotations

from pathlib import Path

import pluggy

from diopi_proto.descriptor import VendorDescriptor, require_library

from ._version import __version__
from .presence import present

hookimpl = pluggy.HookimplMarker("dl")

_LIBRARY = Path(__file__).parent / "lib" / "libdl_vendor_opencl.so"


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """Describe the library, which a host opens only if a driver seems to be present.

    :raises FileNotFoundError: the wheel has no library.
    """
    return VendorDescriptor(
        name="opencl",
        library=require_library(_LIBRARY, "clang-15 and llvm-spirv-15"),
        version=__version__,
        # Drivers of one maker's devices, such as CUDA's, come first.
        priority=50,
        present=present,
    )

"""Plugin that dl finds by its entry point: the path of the library. Imports no torch."""

from pathlib import Path

import pluggy

from diopi_proto.descriptor import VendorDescriptor

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_vendor() -> VendorDescriptor:
    return VendorDescriptor(
        name="minimal",
        library=Path(__file__).parent / "lib" / "libdl_vendor_minimal.so",
        version="0.1.0",
        priority=10,
    )

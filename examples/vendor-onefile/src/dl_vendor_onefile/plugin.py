"""Plugin of the entry point ``onefile``."""

from pathlib import Path

import pluggy

from diopi_proto.descriptor import VendorDescriptor

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """An accelerator, behind the asynchronous test vendor where both are installed."""
    return VendorDescriptor(
        name="onefile",
        library=Path(__file__).parent / "lib" / "libdl_vendor_onefile.so",
        version="0.1.0",
        priority=5,
    )

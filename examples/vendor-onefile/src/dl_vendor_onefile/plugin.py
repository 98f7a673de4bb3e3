"""Plugin of the entry point ``onefile``."""

from pathlib import Path

import pluggy

from diopi_proto.descriptor import VendorDescriptor

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """Declare an accelerator, with lower priority than the asynchronous test vendor."""
    return VendorDescriptor(
        name="onefile",
        library=Path(__file__).parent / "lib" / "libdl_vendor_onefile.so",
        version="0.1.0",
        priority=5,
    )

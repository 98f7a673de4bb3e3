"""Plugin of the entry point ``async``."""

from __future__ import annotations

from pathlib import Path

import pluggy

from diopi_proto import VendorDescriptor

from ._version import __version__

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """Describe the vendor as an accelerator, so that it has precedence over the CPU reference."""
    return VendorDescriptor(
        name="async",
        library=Path(__file__).parent / "lib" / "libdl_vendor_async_test.so",
        version=__version__,
        priority=10,
    )

"""Plugin of the entry point ``cpu``: selects the library of the wheel for this processor."""

from __future__ import annotations

from pathlib import Path

import pluggy

from diopi_proto import VendorDescriptor

from ._version import __version__
from .levels import levels_here

hookimpl = pluggy.HookimplMarker("dl")

_LIBRARIES = Path(__file__).parent / "lib"


def choose_library(directory: Path, levels: list[str]) -> Path | None:
    """Return the library in ``directory`` for the first of ``levels`` that has one, or None."""
    for level in levels:
        library = directory / f"libdl_vendor_cpu_{level}.so"
        if library.is_file():
            return library
    return None


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """Describe the library for this processor. It shows the CPU as one device, or as
    ``DL_CPU_DEVICES`` devices.

    :raises FileNotFoundError: the wheel has no library that this processor can run.
    """
    levels = levels_here()
    library = choose_library(_LIBRARIES, levels)
    if library is None:
        raise FileNotFoundError(
            f"dl-vendor-cpu has no library for this processor (levels "
            f"{', '.join(levels) or 'none'}) in {_LIBRARIES}; rebuild it with DL_BUILD_ISA=all"
        )
    return VendorDescriptor(
        name="cpu", library=library, version=__version__, priority=0, accelerator=False
    )

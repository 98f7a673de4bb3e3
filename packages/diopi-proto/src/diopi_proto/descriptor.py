"""How a vendor's wheel tells where its library is: what the ``dl_vendor`` hook returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class VendorDescriptor:
    """One vendor library, as the wheel that ships it describes it. Making one loads nothing."""

    name: str
    """Short and lower case: ``"cpu"``, ``"rocm"``. What ``DL_VENDORS`` lists."""
    library: Path
    """Absolute path of the shared library."""
    version: str
    """Version of the wheel; for messages only, never compared."""
    priority: int = 0
    """The vendor with the highest priority that has a device is used by default. Accelerators are
    above 0, the CPU reference is 0."""
    accelerator: bool = True
    """False for a CPU reference."""
    legacy: bool = False
    """The library exports DIOPI's operators by name instead of ``dl_vendor_v1``. It gets one
    device, which is host memory; docs/vendor.md has its other limits."""
    adaptor: Path | None = None
    """Absolute path of an ``adaptor.yaml``, where tensors are to be cast or laid out before the
    library's operators get them; docs/adaptor.md. Not for legacy libraries."""
    present: Callable[[], bool] | None = None
    """Tells quickly whether a driver and a device seem to be there, and touches neither; where it
    says no, the library is not loaded. None: it is loaded, and its own ``present`` slot decides
    before its devices are counted."""
    simulated: Callable[[], Mapping[str, str]] | None = None
    """Environment variables with which the library runs over a simulated driver, for tests without
    a device. Raises RuntimeError, with what to install, where there is none. None: there is no
    simulator for it."""
    libraries: Callable[[], Mapping[str, str]] | None = None
    """What the library uses where it is installed, by name: the path that was found, or what to do
    to have it. Opens nothing; ``dl doctor`` asks. None: there is nothing of the kind."""

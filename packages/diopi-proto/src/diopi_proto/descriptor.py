"""Description of a vendor library, which the ``dl_vendor`` hook of its wheel returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class VendorDescriptor:
    """Description of one vendor library by its wheel. Creating one loads nothing."""

    name: str
    """Short lower-case name, as in ``DL_VENDORS``: ``"cpu"``, ``"rocm"``."""
    library: Path
    """Absolute path of the shared library."""
    version: str
    """Version of the wheel; for messages only."""
    priority: int = 0
    """The vendor with a device and the highest priority is the default. Accelerators have
    priorities above 0; the CPU reference has 0."""
    accelerator: bool = True
    """False for a CPU reference."""
    legacy: bool = False
    """The library exports DIOPI's operators by name instead of ``dl_vendor_v1``. Without a
    ``runtime`` it gets one device, which is host memory; docs/legacy.md has its other limits."""
    adaptor: Path | None = None
    """Absolute path of an ``adaptor.yaml`` if tensors must be cast, or converted to another memory
    format, for the library's operators; see docs/adaptor.md. Not for legacy libraries."""
    present: Callable[[], bool] | None = None
    """Function that returns quickly whether a driver and a device seem to be installed, without
    using them. If not, the library is not loaded. None: the library is loaded, and its ``present``
    slot decides.
    """
    simulated: Callable[[], Mapping[str, str]] | None = None
    """Function that returns environment variables with which the library uses a simulated driver,
    for tests without a device. It raises RuntimeError with the package to install if that is
    missing. None: the vendor has no simulator."""
    libraries: Callable[[], Mapping[str, str]] | None = None
    """Function that returns the optional libraries of this library by name, with the path that was
    found or how to install it. It does not open the libraries; for ``dl doctor``. None: there are
    no optional libraries.
    """
    runtime: Path | None = None
    """Absolute path of a library with a vendor table, on whose devices a legacy library computes.
    The table has devices, memory, streams and events, and may have operators that the legacy
    library lacks. Only for legacy libraries; see docs/legacy.md."""
    status: str = ""
    """A restriction that conformance reports state with the vendor's name, such as
    ``"experimental"``; empty: none."""


@dataclass(frozen=True)
class AddedOperators:
    """Description of a library with operators for the devices of an existing vendor, by its wheel.

    Creating one loads nothing. ``dl/added_operators.h`` declares the library's interface.
    """

    name: str
    """Short lower-case name for messages and profiles, such as ``"fast-attention"``."""
    vendor: str
    """Name of the vendor, as in ``DL_VENDORS``."""
    library: Path
    """Absolute path of the shared library."""
    priority: int = 0
    """The implementation of an operator with the highest priority is called first. If it declines
    the call, the next is called, and finally the vendor's own."""
    present: Callable[[], bool] | None = None
    """Function that returns quickly whether the library can be used on this machine. If not, it is
    not loaded. None: the library is loaded, and lists the operators for each device."""


def require_library(library: Path, tools: str) -> Path:
    """Return the path of a wheel's library, which its build compiles with ``tools``.

    :param library: such as ``dl_vendor_cuda/lib/libdl_vendor_cuda.so`` in the wheel.
    :raises FileNotFoundError: the wheel has no library.
    """
    if library.is_file():
        return library
    package = library.parents[1].name.replace("_", "-")
    raise FileNotFoundError(
        f"{package} has no library {library}; build it: `pip install --no-build-isolation .` in "
        f"its folder, with {tools} in PATH"
    )

"""Run and check GPU programs without a GPU: an interpreter of PTX, and a driver in front of it.

>>> module = Module(ptx_text)
>>> result = module.launch("scale", grid=1, block=32, args=[array, numpy.float32(2)])
>>> result.findings
[]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:
    from .module import Kernel, Module, PtxError, Result
    from .packing import LaunchError
    from .report import Finding

__all__ = [
    "Finding",
    "Kernel",
    "LaunchError",
    "Module",
    "PtxError",
    "Result",
    "__version__",
    "waits",
]


def waits() -> dict[str, int]:
    """How often the host has waited for a simulated device in this process, by the driver's call.

    A call counts when its thread stopped until work was done, whatever it is called: a copy to
    memory that is not pinned waits, and so does setting memory free.
    """
    import json

    from ._native import load

    ffi, library = load()
    found = json.loads(ffi.string(library.dl_gpu_sim_waits()))
    return {str(name): int(count) for name, count in found.items()}


def __getattr__(name: str) -> object:
    # The library is opened by those who use it, not by whoever asks for the version.
    if name in ("Kernel", "LaunchError", "Module", "PtxError", "Result"):
        from . import module

        return getattr(module, name)
    if name == "Finding":
        from . import report

        return report.Finding
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

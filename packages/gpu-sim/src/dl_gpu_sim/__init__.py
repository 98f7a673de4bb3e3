"""Run and check GPU programs without a GPU: a PTX interpreter with its own CUDA driver.

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
    """Return the number of times that this process's host has waited for a device, by driver call.

    Every call that blocked its thread until work was complete is counted, including copies to
    memory that is not pinned, and freeing memory.
    """
    import json

    from ._native import load

    ffi, library = load()
    found = json.loads(ffi.string(library.dl_gpu_sim_waits()))
    return {str(name): int(count) for name, count in found.items()}


def __getattr__(name: str) -> object:
    # Load the library only on use, not when just the version is read.
    if name in ("Kernel", "LaunchError", "Module", "PtxError", "Result"):
        from . import module

        return getattr(module, name)
    if name == "Finding":
        from . import report

        return report.Finding
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

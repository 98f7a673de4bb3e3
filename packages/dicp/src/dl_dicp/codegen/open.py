"""Whether kernels can be made for a device."""

from __future__ import annotations

import torch

from dl_core import _C
from dl_dicp.tiling import computes_on_host

from .engine import Codegen


def open_for(device: torch.device) -> Codegen | str:
    """The engine for a device, or why it has none."""
    if not computes_on_host(device):
        return f"{device} does not compute in memory of the host, which its kernels are for"
    languages, unavailable = _C.kernel_languages(device.index)
    if unavailable:
        return unavailable
    if "c++" not in languages.split(","):
        return f"{device} compiles no C++"
    try:
        import dl_kernels  # noqa: F401 - of whose headers kernels are made
    except ImportError:
        return "dl-kernels is not installed: `pip install dl-dicp[codegen]`"
    return Codegen(device)

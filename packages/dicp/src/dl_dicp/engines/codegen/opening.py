"""Choice of the kernel language for a device."""

from __future__ import annotations

import importlib.util

import torch

from dl_core import _C
from dl_dicp.engines.codegen.cpp import CPP
from dl_dicp.engines.codegen.cuda import CUDA
from dl_dicp.engines.codegen.graph_engine import Codegen
from dl_dicp.engines.codegen.hip import HIP
from dl_dicp.engines.codegen.opencl import OPENCL
from dl_dicp.program.tiling import computes_on_host


def open_for(device: torch.device) -> Codegen | str:
    """Return the graph engine for a device, or the reason why it has none."""
    languages, unavailable = _C.kernel_languages(device.index)
    if unavailable:
        return unavailable
    # A device that computes in host memory gets CPU kernels; any other device gets GPU kernels.
    dialects = [CPP] if computes_on_host(device) else [CUDA, HIP, OPENCL]
    dialect = next((each for each in dialects if each.language in languages.split(",")), None)
    if dialect is None:
        known = " or ".join(each.language for each in dialects)
        return f"{device} compiles {languages or 'no language'}, not {known}"
    if (
        dialect is CPP and importlib.util.find_spec("dl_kernels") is None
    ):  # kernels include its headers
        return "dl-kernels is not installed: `pip install dl-dicp[codegen]`"
    return Codegen(device, dialect)

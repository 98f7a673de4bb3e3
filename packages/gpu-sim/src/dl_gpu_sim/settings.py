"""Settings from the variables ``DL_GPU_SIM_...``, as read by the library."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

from ._native import load

PREFIX = "DL_GPU_SIM_"


@dataclass(frozen=True)
class Settings:
    """Settings that apply to launches in Python; all others apply to the driver."""

    seed: int
    steps: int
    """Limit of warp instructions; 0 for the default."""


def read(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read and check all variables.

    :raises ValueError: a value is invalid; the message has the variable, the value, and the allowed
        values.
    """
    ffi, library = load()
    named = (item for item in environ.items() if item[0].startswith(PREFIX))
    texts = [ffi.new("char[]", os.fsencode(f"{name}={value}")) for name, value in named]
    found = library.dl_gpu_sim_settings(ffi.new("char*[]", [*texts, ffi.NULL]))
    if not found:
        raise ValueError(ffi.string(library.dl_gpu_sim_error()).decode(errors="replace"))
    return Settings(**json.loads(ffi.string(found)))

"""Settings in the variables ``DL_GPU_SIM_...``, as the library reads them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

from ._native import load

PREFIX = "DL_GPU_SIM_"


@dataclass(frozen=True)
class Settings:
    """Those that a launch in Python goes by; the others are the driver's."""

    seed: int
    steps: int
    """0: the standard number."""


def read(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the variables, of which all are looked at.

    :raises ValueError: a value has no meaning; names variable, value and what is allowed.
    """
    ffi, library = load()
    named = (item for item in environ.items() if item[0].startswith(PREFIX))
    texts = [ffi.new("char[]", os.fsencode(f"{name}={value}")) for name, value in named]
    found = library.dl_gpu_sim_settings(ffi.new("char*[]", [*texts, ffi.NULL]))
    if not found:
        raise ValueError(ffi.string(library.dl_gpu_sim_error()).decode(errors="replace"))
    return Settings(**json.loads(ffi.string(found)))

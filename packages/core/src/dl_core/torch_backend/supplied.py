"""Functions of torch's C++ part that exist only in CUDA builds, for all other builds."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

_OF_DATA_PARALLEL = (
    "_broadcast",
    "_broadcast_coalesced",
    "_broadcast_out",
    "_gather",
    "_gather_out",
    "_scatter",
    "_scatter_out",
)


def supply() -> None:
    """Add the missing functions to torch."""
    for name in _OF_DATA_PARALLEL:
        if not hasattr(torch._C, name):
            setattr(torch._C, name, partial(_call, name))


def _call(name: str, *args: Any, **kwargs: Any) -> Any:
    from dl_core.torch_backend import data_parallel  # rarely used

    return getattr(data_parallel, name)(*args, **kwargs)

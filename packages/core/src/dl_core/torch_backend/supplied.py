"""Functions of torch's C++ half that builds without CUDA lack, and dl has. Nothing is replaced."""

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
    """Give torch those functions that it lacks."""
    for name in _OF_DATA_PARALLEL:
        if not hasattr(torch._C, name):
            setattr(torch._C, name, partial(_call, name))


def _call(name: str, *args: Any, **kwargs: Any) -> Any:
    from dl_core.torch_backend import data_parallel  # few use it, and all start with us

    return getattr(data_parallel, name)(*args, **kwargs)

"""Gradient checkpointing: a backward graph redraws random numbers, such as those of dropout.

AOTAutograd saves the generator's state before the forward pass draws random numbers. Its operators
for saving and restoring support only torch's own devices; this module adds support for dl.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch._C import DispatchKey
from torch._prims import rng_prims
from torch.utils._pytree import tree_leaves

from dl_core.torch_backend.random import get_rng_state, set_rng_state
from dl_dicp.recording.generators import generators_kept


def _device_of(given: Any) -> torch.device | None:
    """Return the dl device among arguments."""
    for each in tree_leaves(given):
        device = each.device if isinstance(each, torch.Tensor) else each
        if isinstance(device, torch.device) and device.type == "dl":
            return device
    return None


@cache
def register() -> None:
    """Make torch save and restore the states of dl's generators."""
    save, use = rng_prims.run_and_save_rng_state, rng_prims.run_with_rng_state
    torch_save, torch_use = (each.py_kernels[DispatchKey.BackendSelect] for each in (save, use))

    def saved(op: Any, *args: Any, **kwargs: Any) -> Any:
        device = _device_of((args, kwargs))
        if device is None:
            return torch_save(op, *args, **kwargs)
        return get_rng_state(device), op(*args, **kwargs)

    def used(state: torch.Tensor, op: Any, *args: Any, **kwargs: Any) -> Any:
        device = _device_of((args, kwargs))
        if device is None:
            return torch_use(state, op, *args, **kwargs)
        with generators_kept(device):
            set_rng_state(state, device)
            return op(*args, **kwargs)

    save.py_kernels[DispatchKey.BackendSelect] = saved
    use.py_kernels[DispatchKey.BackendSelect] = used
    for each in (save, use):
        each._dispatch_cache.clear()

"""The tensors among the arguments and results of calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils import _pytree


def tensors_of(*trees: Any) -> list[torch.Tensor]:
    """Every tensor in nested tuples, lists, dictionaries and named tuples, in order."""
    found: list[torch.Tensor] = []
    for tree in trees:
        if isinstance(tree, torch.Tensor):
            found.append(tree)
        elif tree is not None:
            leaves = _pytree.tree_leaves(tree)
            found.extend(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
    return found


def _devices(values: Any) -> Iterator[str]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value.device.type
        elif isinstance(value, (list, tuple)):
            yield from _devices(value)
        elif isinstance(value, Mapping):
            yield from _devices(value.values())
        elif isinstance(value, torch.device):
            yield value.type


def runs_on(device: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether a tensor among the arguments lives on a device of this type, or ``device=`` says so.

    Strings count as devices only where the argument's name says so.
    """
    for value in args:
        # Most calls have a tensor in front.
        if isinstance(value, torch.Tensor) and value.device.type == device:
            return True
    if device in _devices(args):
        return True
    if not kwargs:
        return False
    wanted = kwargs.get("device")
    if isinstance(wanted, str) and wanted.partition(":")[0] == device:
        return True
    return device in _devices(kwargs.values())

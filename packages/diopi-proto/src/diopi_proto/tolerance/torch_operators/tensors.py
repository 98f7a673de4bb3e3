"""Tensors among the arguments and results of calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch.utils import _pytree

_PLAIN = frozenset({int, float, bool, str, complex, type(None), torch.dtype, torch.device})


def tensors_of(*trees: Any) -> list[torch.Tensor]:
    """Return all tensors in nested tuples, lists, dictionaries, sets and named tuples, in order."""
    found: list[torch.Tensor] = []
    _collect(trees, found)
    return found


def _collect(values: Iterable[Any], found: list[torch.Tensor]) -> None:
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif type(value) in _PLAIN:
            continue
        elif isinstance(value, (tuple, list, set, frozenset)):
            _collect(value, found)
        elif isinstance(value, Mapping):
            _collect(value.values(), found)
        elif type(value) in _pytree.SUPPORTED_NODES:
            _collect(_pytree.tree_leaves(value), found)

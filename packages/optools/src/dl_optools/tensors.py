"""Access to the tensors among the arguments and results of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.autograd.graph import Node
from torch.utils import _pytree

from diopi_proto.tolerance.torch_operators.tensors import tensors_of as tensors_of

_SETS = (set, frozenset)


def map_leaves(change: Callable[[Any], Any], tree: Any) -> Any:
    """Return the same structure with changed leaves; sets and named tuples keep their types."""

    def leaf(value: Any) -> Any:
        if isinstance(value, _SETS):
            return type(value)(map_leaves(change, part) for part in value)
        return change(value)

    return _pytree.tree_map(leaf, tree)


def grad_fn_of(tensor: torch.Tensor) -> Node | None:
    """Return the node that created a tensor; None also for a view that autograd refuses.

    Such a view was created without gradients, and it or its base was written to although it
    requires gradients: ``weight[0].fill_(0)`` under ``no_grad``.
    """
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def versions(tensors: Iterable[torch.Tensor]) -> list[int]:
    """Return the version of each tensor; -1 if torch does not count it."""
    return [-1 if x.is_inference() else x._version for x in tensors]


def find_written(tensors: Iterable[torch.Tensor], before: Iterable[int]) -> list[torch.Tensor]:
    """Return the tensors of a call whose memory the call wrote to, returned or not.

    :param before: :func:`versions` of the same tensors before the call.
    """
    return [
        tensor
        for tensor, old in zip(tensors, before, strict=True)
        if old >= 0 and tensor._version != old
    ]


def _devices(values: Any) -> Iterator[str]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value.device.type
        elif isinstance(value, (list, tuple, *_SETS)):
            yield from _devices(value)
        elif isinstance(value, Mapping):
            yield from _devices(value.values())
        elif isinstance(value, torch.device):
            yield value.type


def runs_on(device: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Return True if a tensor argument is on a device of this type, or ``device=`` names it.

    Strings count as devices only if the argument's name says so.
    """
    for value in args:
        # Most calls have a tensor as their first argument.
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

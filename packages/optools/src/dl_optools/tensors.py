"""The tensors among the arguments and results of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.autograd.graph import Node
from torch.utils import _pytree

from dl_core.torch_backend.judging.tensors import tensors_of as tensors_of

_SETS = (set, frozenset)


def map_leaves(change: Callable[[Any], Any], tree: Any) -> Any:
    """The same structure with other leaves; sets stay sets, named tuples what they are."""

    def leaf(value: Any) -> Any:
        if isinstance(value, _SETS):
            return type(value)(map_leaves(change, part) for part in value)
        return change(value)

    return _pytree.tree_map(leaf, tree)


def grad_fn_of(tensor: torch.Tensor) -> Node | None:
    """The node that made a tensor; None, too, for a view that autograd refuses.

    Such a view was made without gradients and written to, it or its base, where it needs some:
    ``weight[0].fill_(0)`` under ``no_grad``.
    """
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def versions(tensors: Iterable[torch.Tensor]) -> list[int]:
    """How often each tensor's memory was written to; -1 where torch does not count it."""
    return [-1 if x.is_inference() else x._version for x in tensors]


def written(tensors: Iterable[torch.Tensor], before: Iterable[int]) -> list[torch.Tensor]:
    """Those of a call's tensors whose memory it wrote to: what in-place functions return, or not.

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

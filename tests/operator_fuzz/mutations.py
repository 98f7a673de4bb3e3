"""Changes to the arguments of a sample: dtypes, shapes, values, layouts, scalars, options."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from dl_torch_tests.opinfo.sweep import Arguments

from .layouts import change_layout
from .values import change_values, scalar_like

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
DTYPES = (*FLOATS, *INTEGERS, torch.bool, *COMPLEX)
LARGEST = 1 << 14
"""Maximum number of elements of tensors whose shape is changed."""


def _numbers(tensor: torch.Tensor) -> bool:
    """Return True for numeric tensors, False for indices, masks and labels."""
    return tensor.is_floating_point() or tensor.is_complex()


def _plain(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def change_tensors(
    arguments: Arguments, change: Callable[[torch.Tensor], torch.Tensor]
) -> Arguments:
    """Apply ``change`` to every strided tensor; equal tensors stay one tensor."""
    known: dict[int, torch.Tensor] = {}

    def one(value: Any) -> Any:
        if not _plain(value):
            return value
        if id(value) not in known:
            changed = change(value.detach())
            known[id(value)] = changed.requires_grad_(value.requires_grad and _numbers(changed))
        return known[id(value)]

    found: Arguments = tree_map(one, arguments)
    return found


def change_dtypes(draw: random.Random, arguments: Arguments) -> Arguments:
    """Change the dtype of all numeric tensors together, or of each one separately."""
    if draw.random() < 0.7:
        common = draw.choices((*FLOATS, *COMPLEX, *INTEGERS, torch.bool), (4,) * 4 + (1,) * 8)[0]
        return change_tensors(arguments, lambda x: x.to(common) if _numbers(x) else x)

    def one(tensor: torch.Tensor) -> torch.Tensor:
        if draw.random() < 0.5:
            return tensor
        if _numbers(tensor) or draw.random() < 0.2:
            return tensor.to(draw.choice(DTYPES))
        return tensor.to(draw.choice((torch.int64, torch.int32, torch.uint8, torch.bool)))

    return change_tensors(arguments, one)


def change_shapes(draw: random.Random, arguments: Arguments) -> Arguments:
    """Change the shape of all tensors alike, or of a single one."""
    change = _shape_change(draw)
    if draw.random() < 0.4:
        return change_tensors(arguments, change)
    chosen = draw.random()
    at = iter(range(1 << 20))
    count = max(1, sum(map(_plain, tree_flatten(arguments)[0])))

    def one(tensor: torch.Tensor) -> torch.Tensor:
        return change(tensor) if next(at) == int(chosen * count) else tensor

    return change_tensors(arguments, one)


def _shape_change(draw: random.Random) -> Callable[[torch.Tensor], torch.Tensor]:
    where = draw.random()

    def dim(tensor: torch.Tensor) -> int:
        return int(where * tensor.dim())

    def narrowed(tensor: torch.Tensor, length: int) -> torch.Tensor:
        if tensor.dim() == 0:
            return tensor
        return tensor.narrow(dim(tensor), 0, min(length, tensor.shape[dim(tensor)])).clone()

    def repeated(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim() == 0 or tensor.numel() > LARGEST:
            return tensor
        return torch.cat([tensor, tensor], dim(tensor))

    changes: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
        lambda x: narrowed(x, 0),
        lambda x: narrowed(x, 1),
        lambda x: narrowed(x, 1),
        lambda x: narrowed(x, 2),
        lambda x: narrowed(x, max(1, x.shape[dim(x)] - 1) if x.dim() else 1),
        lambda x: x.flatten()[0].clone() if x.numel() else x,
        lambda x: x.unsqueeze(int(where * (x.dim() + 1))),
        lambda x: x.select(dim(x), 0).clone() if x.dim() and x.shape[dim(x)] else x,
        repeated,
        lambda x: x.flatten(),
    )
    return draw.choice(changes)


def change_all_values(draw: random.Random, arguments: Arguments) -> Arguments:
    """Change values of some numeric tensors, and rarely of indices and masks."""

    def one(tensor: torch.Tensor) -> torch.Tensor:
        if draw.random() < (0.7 if _numbers(tensor) or tensor.dtype == torch.bool else 0.1):
            return change_values(draw, tensor)
        return tensor

    return change_tensors(arguments, one)


def change_layouts(draw: random.Random, arguments: Arguments) -> Arguments:
    """Change the layout of some tensors."""
    share = draw.choice((0.4, 0.7, 1.0))
    return change_tensors(
        arguments, lambda x: change_layout(draw, x) if draw.random() < share else x
    )


def change_scalars(draw: random.Random, arguments: Arguments) -> Arguments:
    """Change the value of a scalar, dtype or option."""
    leaves, spec = tree_flatten(arguments)
    options = (bool, int, float, complex, torch.dtype)
    at = [i for i, leaf in enumerate(leaves) if type(leaf) in options]
    if not at:
        return arguments
    chosen = draw.choice(at)
    value = leaves[chosen]
    if isinstance(value, torch.dtype):
        leaves[chosen] = draw.choice(DTYPES)
    else:
        leaves[chosen] = scalar_like(draw, value, small=draw.random() < 0.95)
    changed: Arguments = tree_unflatten(leaves, spec)
    return changed


def drop_option(draw: random.Random, arguments: Arguments) -> Arguments:
    """Omit one keyword argument, or the last positional one."""
    first, args, kwargs = arguments
    # Without its device, a factory would create the tensor on the CPU in both runs.
    named = sorted(kwargs.keys() - {"device"})
    if named and (not args or draw.random() < 0.7):
        gone = draw.choice(named)
        return first, args, {name: value for name, value in kwargs.items() if name != gone}
    return first, args[:-1], kwargs


def share_tensors(draw: random.Random, arguments: Arguments) -> Arguments:
    """Replace a tensor by the first one, or by a view of it with the same shape."""
    leaves, spec = tree_flatten(arguments)
    at = [i for i, leaf in enumerate(leaves) if _plain(leaf)]
    if len(at) < 2:
        return arguments
    source, target = leaves[at[0]], draw.choice(at[1:])
    shape = leaves[target].shape
    views = [source, source.mT if source.dim() >= 2 else source, source.flatten()]
    fitting = [view for view in views if view.shape == shape]
    if fitting and _numbers(source) == _numbers(leaves[target]):
        leaves[target] = draw.choice(fitting)
    changed: Arguments = tree_unflatten(leaves, spec)
    return changed


Mutation = Callable[[random.Random, Arguments], Arguments]

_MUTATIONS: tuple[tuple[Mutation, float], ...] = (
    (change_shapes, 0.25),
    (change_dtypes, 0.4),
    (change_all_values, 0.4),
    (change_scalars, 0.3),
    (drop_option, 0.12),
    (change_layouts, 0.5),
    (share_tensors, 0.05),
)
"""Mutations in the order in which they are applied, each with its probability."""


def mutate(draw: random.Random, arguments: Arguments) -> Arguments:
    """Return changed arguments, without modifying the given ones."""
    for mutation, probability in _MUTATIONS:
        if draw.random() < probability:
            arguments = mutation(draw, arguments)
    return arguments

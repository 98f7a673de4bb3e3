"""Memory layouts for the tensors of a call: the same values with other strides."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

Layout = Callable[[random.Random, torch.Tensor], torch.Tensor]


def _contiguous(_: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)


def _permuted(draw: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    order = list(range(tensor.dim()))
    draw.shuffle(order)
    back = [order.index(dim) for dim in range(tensor.dim())]
    return tensor.permute(order).contiguous().permute(back)


def _transposed(_: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    order = tuple(reversed(range(tensor.dim())))
    return tensor.permute(order).clone(memory_format=torch.contiguous_format).permute(order)


def _swapped(_: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Store the matrices of the last two dimensions in column-major order."""
    return tensor.mT.contiguous().mT if tensor.dim() >= 2 else tensor.clone()


def _sliced(draw: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Use every second element along one dimension."""
    if tensor.dim() == 0:
        return torch.stack([tensor, tensor])[1]
    dim = draw.randrange(tensor.dim())
    buffer = torch.stack([tensor, tensor], dim + 1).flatten(dim, dim + 1)
    return (
        buffer.narrow(dim, 1, 2 * tensor.shape[dim] - 1)[
            (slice(None),) * dim + (slice(None, None, 2),)
        ]
        if tensor.shape[dim]
        else tensor.clone()
    )


def _window(draw: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Use a block of a larger tensor: rows with gaps, and an offset."""
    if tensor.dim() == 0:
        return torch.stack([tensor] * 3)[1]
    buffer = tensor.new_full([size + draw.choice((0, 1, 2)) for size in tensor.shape], 1)
    block = buffer
    for dim, size in enumerate(tensor.shape):
        block = block.narrow(dim, buffer.shape[dim] - size, size)
    return block.copy_(tensor)


def _expanded(draw: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Repeat the first slice along one dimension with stride 0."""
    if tensor.dim() == 0 or tensor.numel() == 0:
        return tensor.clone()
    return tensor.narrow(draw.randrange(tensor.dim()), 0, 1).clone().expand(tensor.shape)


def _channels_last(_: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    found = formats.get(tensor.dim(), torch.contiguous_format)
    return tensor.contiguous(memory_format=found).clone()


def _flipped(_: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    return tensor.flip(list(range(tensor.dim()))) if tensor.dim() else tensor.clone()


def _odd_unit_strides(draw: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Give dimensions of size 1 strides that no contiguous tensor has."""
    copy = tensor.clone(memory_format=torch.contiguous_format)
    strides = [
        draw.choice((0, 1, 5, stride)) if size == 1 else stride
        for size, stride in zip(copy.shape, copy.stride(), strict=True)
    ]
    return copy.as_strided(copy.shape, strides)


def _negated(_: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Return a lazily conjugated or negated tensor."""
    if tensor.is_complex():
        return tensor.clone().conj()
    if tensor.is_floating_point():
        return torch.complex(tensor.float(), -tensor.float()).conj().imag.to(tensor.dtype)
    return tensor.clone()


_LAYOUTS: tuple[tuple[Layout, int], ...] = (
    (_contiguous, 2),
    (_permuted, 3),
    (_transposed, 3),
    (_swapped, 2),
    (_sliced, 3),
    (_window, 3),
    (_expanded, 2),
    (_channels_last, 3),
    (_flipped, 1),
    (_odd_unit_strides, 2),
    (_negated, 1),
)


def change_layout(draw: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Return a copy of ``tensor`` in another layout."""
    layouts, weights = zip(*_LAYOUTS, strict=True)
    layout: Layout = draw.choices(layouts, weights)[0]
    return layout(draw, tensor.detach())

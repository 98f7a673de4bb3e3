"""Decompositions of operators, applied before recording.

Indexing is decomposed because the contract's indexing operator lets the vendor determine the size
of the result, which a graph does not support. Empty tensors become zeros because a graph must not
read memory that it has not written: a functional graph copies an empty tensor before it writes a
part of the copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dl_dicp.recording.half_norms import batch_norm
from dl_dicp.recording.scalar_operands import NUMBERS

aten = torch.ops.aten


def index(x: Tensor, indices: Sequence[Tensor | None]) -> Any:
    """Return ``x[:, rows]`` or ``x[rows, columns]`` for integer tensors. Indices may be negative,
    and the tensors may be on the CPU.

    :returns: NotImplemented for masks.
    """
    given = [(dim, each) for dim, each in enumerate(indices) if each is not None]
    if not given or any(each.dtype not in (torch.int64, torch.int32) for _, each in given):
        return NotImplemented
    dims = [dim for dim, _ in given]
    first = dims[0]
    if dims != list(range(first, first + len(dims))):
        # If other dimensions are between them, torch moves the indexed dimensions to the front.
        x, first = x.movedim(dims, list(range(len(dims)))), 0
    behind = first + len(dims)
    rows = _places([each.to(x.device) for _, each in given], x.shape[first:behind])
    picked = torch.index_select(x.flatten(first, behind - 1), first, rows.reshape(-1))
    return picked.reshape((*x.shape[:first], *rows.shape, *x.shape[behind:]))


def _places(indices: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """Return the indices into the flattened dimensions. An index that is out of range is mapped
    beyond the end, since it could otherwise select an element of another row."""
    if len(indices) == 1:
        (rows,) = indices
        return torch.where(rows < 0, rows + sizes[0], rows)
    total = math.prod(sizes)
    place: Any = 0
    for each, size in zip(indices, sizes, strict=True):
        wrapped = torch.where(each < 0, each + size, each).long()
        inside = (wrapped >= 0) & (wrapped < size)
        place = place * size + torch.where(inside, wrapped, total)
    return torch.as_tensor(place)


def empty_like(x: Tensor, **options: Any) -> Tensor:
    """Return zeros with its shape and dtype."""
    return torch.zeros_like(x, **options)


def new_empty(x: Tensor, size: Sequence[int], **options: Any) -> Tensor:
    """Return zeros with its shape and dtype."""
    return x.new_zeros(size, **options)


def empty(size: Sequence[int], *, memory_format: Any = None, **options: Any) -> Any:
    """Return zeros with its shape and dtype."""
    if memory_format not in (None, torch.contiguous_format):
        return torch.zeros(size, **options).contiguous(memory_format=memory_format)
    return torch.zeros(size, **options)


def empty_strided(size: Sequence[int], stride: Sequence[int], **options: Any) -> Tensor:
    """Return zeros with its strides; gaps between elements are zero, too."""
    span = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    empty = any(isinstance(n, int) and n == 0 for n in size)
    return torch.zeros([0 if empty else span], **options).as_strided(size, stride)


def new_empty_strided(
    x: Tensor, size: Sequence[int], stride: Sequence[int], **options: Any
) -> Tensor:
    """Return zeros with its strides; gaps between elements are zero, too."""
    chosen = {name: options.get(name) or getattr(x, name) for name in ("dtype", "device")}
    return empty_strided(size, stride, **chosen)


def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], **options: Any) -> Tensor:
    """Return zeros with its shape and dtype."""
    zeros = torch.zeros([size[dim] for dim in physical_layout], **options)
    return zeros.permute(_inverse(physical_layout))


def copy(x: Tensor, source: Tensor, non_blocking: bool = False) -> Any:
    """Return the source with the layout of ``x``. Torch's own decomposition copies ``x`` first.

    :returns: NotImplemented if there are gaps between the elements of ``x``.
    """
    order = _order(x)
    if order is None:
        return NotImplemented
    whole = source.expand(x.shape)
    turned = order != list(range(x.dim()))
    made = aten._to_copy.default(
        whole.permute(order) if turned else whole,
        dtype=x.dtype,
        device=x.device,
        memory_format=torch.contiguous_format,
    )
    return made.permute(_inverse(order)) if turned else made


def _order(x: Tensor) -> list[int] | None:
    """Return the dimensions from the outermost to the innermost one; None if there are gaps."""
    if x.is_contiguous():
        return list(range(x.dim()))
    if not all(isinstance(n, int) for n in (*x.shape, *x.stride())):
        return None
    strides = x.stride()
    order = sorted(range(x.dim()), key=lambda dim: (-strides[dim], -x.shape[dim]))
    return order if x.permute(order).is_contiguous() else None


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


def index_put(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Any:
    """Convert indices to int64, the only dtype that the contract's operator has for them.

    :returns: NotImplemented if no index is int32.
    """
    if not any(each is not None and each.dtype == torch.int32 for each in indices):
        return NotImplemented
    wide = [
        each.long() if each is not None and each.dtype == torch.int32 else each for each in indices
    ]
    return aten.index_put(x, wide, values, accumulate)


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {
    aten.index.Tensor: index,
    aten.index_put.default: index_put,
    aten._unsafe_index.Tensor: index,  # differs only in that it need not check the indices
    aten.empty_like.default: empty_like,
    aten.new_empty.default: new_empty,
    aten.empty.memory_format: empty,
    aten.empty_strided.default: empty_strided,
    aten.new_empty_strided.default: new_empty_strided,
    aten.empty_permuted.default: empty_permuted,
    aten.copy.default: copy,
    aten._native_batch_norm_legit_no_training.default: batch_norm,
    **NUMBERS,
}
"""Return the decompositions for AOTAutograd."""

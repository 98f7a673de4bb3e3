"""Operators that are taken apart before they are recorded, because the contract's own operator for
them lets the vendor choose the size of its result, and no graph can have one that does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def index(x: Tensor, indices: Sequence[Tensor | None]) -> Any:
    """``x[:, rows]``, ``x[rows, columns]``: tensors of integers, which may count from the end.

    :returns: NotImplemented for masks.
    """
    given = [(dim, each) for dim, each in enumerate(indices) if each is not None]
    if not given or any(each.dtype not in (torch.int64, torch.int32) for _, each in given):
        return NotImplemented
    dims = [dim for dim, _ in given]
    first = dims[0]
    if dims != list(range(first, first + len(dims))):
        # Where other dimensions are between them, torch puts what is picked in front.
        x, first = x.movedim(dims, list(range(len(dims)))), 0
    behind = first + len(dims)
    rows = _places([each for _, each in given], x.shape[first:behind])
    picked = torch.index_select(x.flatten(first, behind - 1), first, rows.reshape(-1))
    return picked.reshape(*x.shape[:first], *rows.shape, *x.shape[behind:])


def _places(indices: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """Where the elements stand once the dimensions are one; beyond its end for an index that is
    out of range, which would otherwise name an element of another row."""
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


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {aten.index.Tensor: index}
"""As AOTAutograd takes them."""

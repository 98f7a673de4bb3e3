"""Operators that are taken apart before they are recorded, because the contract's own operator for
them lets the vendor choose the size of its result, and no graph can have one that does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def index(x: Tensor, indices: Sequence[Tensor | None]) -> Any:
    """``x[:, rows]``: one tensor of integers, which may count from the end.

    :returns: NotImplemented for masks, and for several tensors.
    """
    given = [(dim, each) for dim, each in enumerate(indices) if each is not None]
    if len(given) != 1 or given[0][1].dtype not in (torch.int64, torch.int32):
        return NotImplemented
    ((dim, rows),) = given
    rows = torch.where(rows < 0, rows + x.shape[dim], rows)
    picked = torch.index_select(x, dim, rows.reshape(-1))
    return picked.reshape(*x.shape[:dim], *rows.shape, *x.shape[dim + 1 :])


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {aten.index.Tensor: index}
"""As AOTAutograd takes them."""

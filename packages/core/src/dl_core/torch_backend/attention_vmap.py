"""Batching rules of fused attention for ``torch.vmap``: the mapped dimension joins the batch.

torch has no such rules for the operator that out-of-tree devices implement.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_FORWARD = "_scaled_dot_product_fused_attention_overrideable"
_BACKWARD = f"{_FORWARD}_backward"

_library: torch.library.Library | None = None
"""Library object that owns the rules."""


def register() -> None:
    """Register the rules with torch. Later calls do nothing."""
    global _library
    if _library is None:
        _library = torch.library.Library("aten", "IMPL")
        for name, rule in ((_FORWARD, _forward), (_BACKWARD, _backward)):
            torch.library.register_vmap(f"aten::{name}", rule, lib=_library)


def _forward(
    info: Any,
    in_dims: tuple[Any, ...],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
    *others: Any,
    **named: Any,
) -> Any:
    """Call the operator on the joined batch.

    :param info: has the size of the mapped dimension; ``in_dims`` has its positions, as defined by
        :func:`torch.library.register_vmap`.
    """
    mapped = _Mapped(info.batch_size, query, in_dims[0])
    given = [mapped.join(x, dim) for x, dim in zip((query, key, value), in_dims, strict=False)]
    mask = None if bias is None else mapped.join_mask(bias, in_dims[3])
    out, lse, *rest = getattr(torch.ops.aten, _FORWARD)(*given, mask, *others, **named)
    return (mapped.split(out), mapped.split(lse), *rest), (0, 0, *(None for _ in rest))


def _backward(
    info: Any,
    in_dims: tuple[Any, ...],
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    wanted: list[bool],
    out: Tensor,
    lse: Tensor,
    *others: Any,
    **named: Any,
) -> Any:
    """Call the gradient operator on the joined batch; parameters as in :func:`_forward`."""
    mapped = _Mapped(info.batch_size, query, in_dims[1])
    given = (grad_out, query, key, value)
    joined = [mapped.join(x, dim) for x, dim in zip(given, in_dims, strict=False)]
    mask = None if bias is None else mapped.join_mask(bias, in_dims[4])
    results = [mapped.join(x, dim) for x, dim in zip((out, lse), in_dims[6:8], strict=True)]
    grads = getattr(torch.ops.aten, _BACKWARD)(*joined, mask, wanted, *results, *others, **named)
    found = [None if grad is None else mapped.split(grad) for grad in grads]
    if bias is not None and found[3] is not None:
        found[3] = _as_mask(found[3], bias.dim() - (in_dims[4] is not None), bias, in_dims[4])
    return tuple(found), tuple(None if grad is None else 0 for grad in found)


class _Mapped:
    """Conversion of tensors between [extent, N, ...] and [extent * N, ...]."""

    def __init__(self, extent: int, query: Tensor, dim: int | None) -> None:
        self._extent = extent
        self._batch = query.shape[0] if dim is None else query.movedim(dim, 0).shape[1]

    def _in_front(self, tensor: Tensor, dim: int | None) -> Tensor:
        if dim is None:
            return tensor.expand(self._extent, *tensor.shape)
        return tensor.movedim(dim, 0)

    def join(self, tensor: Tensor, dim: int | None) -> Tensor:
        """Join the mapped dimension with the batch."""
        return self._in_front(tensor, dim).flatten(0, 1)

    def join_mask(self, mask: Tensor, dim: int | None) -> Tensor:
        """Join the dimensions of a mask, which broadcasts to [N, H, S, L]."""
        whole = self._in_front(mask, dim)
        while whole.dim() < 5:
            whole = whole.unsqueeze(1)
        return whole.expand(self._extent, self._batch, *whole.shape[2:]).flatten(0, 1)

    def split(self, tensor: Tensor) -> Tensor:
        """Split a joined batch."""
        split: Tensor = tensor.unflatten(0, (self._extent, self._batch))
        return split


def _as_mask(grad: Tensor, dims: int, mask: Tensor, dim: int | None) -> Tensor:
    """Return the gradient [extent, N, ...] in the shape of a mask that was broadcast over N."""
    batch = (mask if dim is None else mask.select(dim, 0)).shape[0] if dims == 4 else 1
    if batch != grad.shape[1]:
        grad = grad.sum(1, keepdim=True)
    return grad.flatten(1, 1 + 4 - dims) if dims < 4 else grad

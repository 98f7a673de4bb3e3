"""Indexing, scatter, shape and padding: see native.py for what the tables mean."""

from __future__ import annotations

from typing import Any

import torch

from .direct_cases import DirectCase

_SCATTER_REDUCE = tuple(
    f"scatter_reduce.{name}" for name in ("sum", "prod", "mean", "amax", "amin")
)

FORWARD: dict[str, tuple[str, ...]] = {
    "_index_put_impl_": ("index_put",),
    "arange.start_out": ("arange",),
    "constant_pad_nd": ("constant_pad_nd", "nn.functional.pad.constant"),
    "embedding_renorm_": ("nn.functional.embedding",),
    "flip": ("flip", "fliplr", "flipud"),
    "im2col": ("nn.functional.unfold",),
    "index.Tensor": ("__getitem__", "take", "unravel_index"),
    "index_fill_.int_Scalar": ("index_fill",),
    "index_fill_.int_Tensor": ("index_fill",),
    "linspace.out": ("linspace",),
    "masked_fill_.Tensor": ("masked_fill",),
    "reflection_pad1d": ("nn.functional.pad.reflect",),
    "reflection_pad2d": ("nn.functional.pad.reflect",),
    "reflection_pad3d": ("nn.functional.pad.reflect",),
    "replication_pad1d": ("nn.functional.pad.replicate",),
    "replication_pad2d": ("nn.functional.pad.replicate",),
    "replication_pad3d": ("nn.functional.pad.replicate",),
    "scatter_.reduce": ("scatter",),
    "scatter_.src": ("scatter",),
    "scatter_.value": ("scatter",),
    "scatter_.value_reduce": ("scatter",),
    "scatter_add_": ("scatter_add",),
    "scatter_reduce_.two": _SCATTER_REDUCE,
}
BACKWARD: dict[str, tuple[str, ...]] = {
    "col2im": ("nn.functional.unfold",),
    "unfold_backward": ("unfold",),
}
DECLARED: dict[str, tuple[str, str]] = {
    "roll": (r"\(float32\[\]", "no dimensions: nothing to gain"),
}


def _stacked(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten._stack([first, second], -1)


CASES: dict[str, Any] = {"_stack": DirectCase("_stack", _stacked, operands=2)}

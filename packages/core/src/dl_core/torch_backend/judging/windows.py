"""The windows of pooling, and which of the source's elements they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch


def in_windows(bound: Mapping[str, Any], indices: torch.Tensor, sizes: Sequence[int]) -> bool:
    """Return True if each index of a pooling's result is in the window of its own element.

    A value that stands in several windows, such as the zeros behind a ReLU, tells nothing of that.

    :param bound: the call's arguments by name: ``kernel_size``, ``stride``, ``padding``,
        ``dilation``.
    :param indices: flat over the pooled dimensions, which are the last ones.
    :param sizes: of the source's pooled dimensions.
    """
    rest = indices
    for dim in reversed(range(len(sizes))):
        place, rest = rest % sizes[dim], rest.div(sizes[dim], rounding_mode="floor")
        kernel = _of(bound, "kernel_size", dim, 1)
        stride, dilation = _of(bound, "stride", dim, kernel), _of(bound, "dilation", dim, 1)
        shape = [1] * indices.dim()
        shape[dim - len(sizes)] = -1
        starts = torch.arange(indices.size(dim - len(sizes))) * stride
        inside = place - (starts - _of(bound, "padding", dim, 0)).view(shape)
        if bool(((inside < 0) | (inside % dilation != 0) | (inside >= kernel * dilation)).any()):
            return False
    return bool((rest == 0).all())


def _of(bound: Mapping[str, Any], name: str, dim: int, default: int) -> int:
    """An argument for one dimension: lists of one number hold it for all."""
    given = bound.get(name)
    if given is None:
        return default
    values = [given] if isinstance(given, int) else list(given)
    return int(values[dim if len(values) > 1 else 0]) if values else default

"""Windows of pooling, and the elements of the source that they contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch


def in_windows(bound: Mapping[str, Any], indices: torch.Tensor, sizes: Sequence[int]) -> bool:
    """Return True if each index of a pooling result is in the window of its own element.

    A value that occurs in several windows, such as zeros after a ReLU, cannot show this.

    :param bound: the call's arguments by name: ``kernel_size``, ``stride``, ``padding``,
        ``dilation``.
    :param indices: flat indices over the pooled dimensions, which are the last ones.
    :param sizes: sizes of the source's pooled dimensions.
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
    """Return an argument for one dimension; a list of one number applies to all dimensions."""
    given = bound.get(name)
    if given is None:
        return default
    values = [given] if isinstance(given, int) else list(given)
    return int(values[dim if len(values) > 1 else 0]) if values else default

"""Comparison of two calls with the same arguments, where torch defines the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from diopi_proto.tolerance.torch_operators.comparison import same_elements, same_values, to_host
from diopi_proto.tolerance.torch_operators.op_classes import indices_match_values, is_defined
from diopi_proto.tolerance.torch_operators.schema import Overload
from dl_optools.relocation import Relocation

Pair = tuple[torch.Tensor, torch.Tensor]


def find_difference(
    overload: Overload[Any, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    result: Any,
    again: Any,
) -> Pair | None:
    """Return the first results that differ, on the CPU; None if all are equal.

    Left out are results without information: generator states if nothing is drawn, results with an
    arbitrary sign or order, and indices of a value that occurs several times.
    """
    pairs = [(at, to_host(one), to_host(two)) for at, one, two in _defined(overload, result, again)]
    for at, one, two in pairs:
        if same_values(one, two):
            continue
        if at == 1 and pairs[0][0] == 0 and same_values(*pairs[0][1:]):
            moved_args, moved_kwargs = Relocation((args, dict(kwargs))).tree
            values = pairs[0][1]
            if all(
                indices_match_values(overload, moved_args, moved_kwargs, values, x)
                for x in (one, two)
            ):
                continue
        return one, two
    return None


def _defined(
    overload: Overload[Any, Any], result: Any, again: Any
) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    several = len(overload._schema.returns) > 1
    ones, twos = (list(x) if several else [x] for x in (result, again))
    for at, (one, two) in enumerate(zip(ones, twos, strict=True)):
        if not is_defined(overload, at):
            continue
        for left, right in zip(tree_leaves(one), tree_leaves(two), strict=True):
            if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
                yield at, left, right


def max_distance(left: torch.Tensor, right: torch.Tensor) -> float:
    """Return the largest difference in units of epsilon times the largest value; inf: undefined.

    Elements that are both nan, or the same infinity, count as equal.
    """
    if left.shape != right.shape or left.dtype != right.dtype:
        return float("inf")
    if not (left.is_floating_point() or left.is_complex()):
        return float("inf")
    wide = torch.complex128 if left.is_complex() else torch.float64
    one, two = left.to(wide), right.to(wide)
    difference = (one - two).abs().masked_fill(same_elements(one, two), 0.0)
    size = float(one.abs().nan_to_num(0.0, 0.0, 0.0).max()) or 1.0
    largest = float(difference.nan_to_num(float("inf")).max())
    return largest / size / torch.finfo(left.dtype).eps

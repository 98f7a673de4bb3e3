"""Predicates of causes that depend only on the arguments of a call."""

from __future__ import annotations

import math

import torch
from torch.utils._pytree import tree_leaves

from diopi_proto.tolerance.torch_operators.comparison import to_host
from dl_torch_tests.opinfo.sweep import tensors_of

from .elements import inputs
from .judge import Difference


def products_leave_the_range(difference: Difference) -> bool:
    """Return True if partial products of the arguments overflow or underflow in some order."""
    for tensor in inputs(difference):
        if tensor.is_complex():
            tensor = tensor.abs()
        info = torch.finfo(tensor.dtype)
        logs = tensor.double().abs().nan_to_num(0, 0, 0)
        logs = logs[logs > 0].log2()
        above, below = float(logs.clamp_min(0).sum()), float(logs.clamp_max(0).sum())
        if above > math.log2(info.max) or below < math.log2(info.smallest_normal):
            return True
        if not bool(tensor.isfinite().all()) and bool((tensor == 0).any()):
            return True
    return False


def overlaps(tensor: torch.Tensor) -> bool:
    if tensor.layout != torch.strided:
        return False
    return any(
        size > 1 and stride == 0 for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )


def is_deficient(difference: Difference) -> bool:
    """Return True if a matrix of the call has equal rows or columns, or infinities."""
    for tensor in inputs(difference):
        if tensor.dim() < 2 or tensor.numel() == 0:
            continue
        matrices = tensor.flatten(0, -3) if tensor.dim() > 2 else tensor.unsqueeze(0)
        if not bool(matrices.isfinite().all()):
            return True
        wide = torch.complex128 if matrices.is_complex() else torch.float64
        ranks = torch.linalg.matrix_rank(matrices.to(wide), rtol=1e-6)
        if bool((ranks < min(matrices.shape[-2:])).any()):
            return True
    return False


def has_channels_last_volume(difference: Difference) -> bool:
    return any(
        x.dim() == 5 and x.is_contiguous(memory_format=torch.channels_last_3d)
        for x in tensors_of(difference.call.arguments)
    )


def takes_integers(difference: Difference) -> bool:
    first = tensors_of(difference.call.arguments)[0]
    return not (first.dtype.is_floating_point or first.dtype.is_complex)


def sequence_is_unsorted(difference: Difference) -> bool:
    """Return True if the boundaries, in the order of ``sorter``, do not increase."""
    found = tensors_of(difference.call.arguments)
    for tensor in found[:2]:
        rows = to_host(tensor)
        sorter = difference.call.arguments[2].get("sorter")
        if isinstance(sorter, torch.Tensor) and sorter.shape == rows.shape:
            rows = rows.gather(-1, to_host(sorter))
        if rows.dim() and bool((rows[..., 1:] < rows[..., :-1]).any() | (rows != rows).any()):
            return True
    return False


def offsets_leave_the_data(difference: Difference) -> bool:
    """Return True if an offset of segments is beyond the elements of the first argument."""
    first, _, names = difference.call.arguments
    offsets = names.get("offsets")
    size = first.shape[names.get("axis", 0)]
    return isinstance(offsets, torch.Tensor) and bool((to_host(offsets) > size).any())


def offsets_decrease(difference: Difference) -> bool:
    """Return True if an offset of the bags is less than the previous one."""
    offsets = difference.call.arguments[2].get("offsets")
    return isinstance(offsets, torch.Tensor) and bool((to_host(offsets).diff() < 0).any())


def has_contradicting_scales(difference: Difference) -> bool:
    """Return True if an interpolation has both an output size and contradicting scales."""
    names = difference.call.arguments[2]
    scales = any(names.get(name) is not None for name in ("scales_h", "scales_w", "scales"))
    return scales and names.get("output_size") is not None


def has_extreme_order(difference: Difference) -> bool:
    """Return True if a norm or derivative has an order beyond 1000, below 1/1000, or NaN."""
    orders = _numbers(difference)
    return any(x != x or abs(x) > 1000 or 0 < abs(x) < 1e-3 for x in orders)


def _numbers(difference: Difference) -> list[int | float]:
    """Return the numbers among the arguments after the first."""
    return [x for x in tree_leaves(difference.call.arguments[1:]) if type(x) in (int, float)]


def has_huge_arguments(difference: Difference) -> bool:
    return any(bool((x.abs() > 1e30).any()) for x in inputs(difference))


def exceeds_all_digits(difference: Difference) -> bool:
    """Return True if the sum of 1 and a finite argument is that argument."""
    return any(
        bool((x.abs() * torch.finfo(x.dtype).eps >= 1).logical_and(x.isfinite()).any())
        for x in inputs(difference)
    )


def has_unequal_keys_and_values(difference: Difference) -> bool:
    _, key, value = inputs(difference)[:3]
    return key.shape[-2] != value.shape[-2]


def has_tiny_exponents(difference: Difference) -> bool:
    exponents = inputs(difference)[0].abs()
    return bool(((exponents > 0) & (exponents < 1e-6)).any())


def has_unusable_coordinates(difference: Difference) -> bool:
    """Return True if the grid has coordinates that no integer holds."""
    grid = inputs(difference)[1]
    return not bool((grid.abs() < 2.0**20).all())


def powers_overflow(difference: Difference) -> bool:
    """Return True if squares of finite arguments, or higher powers that the call names, overflow or
    underflow."""
    powers = (x for x in _numbers(difference) if x == x)
    highest = max([2.0, *(min(abs(float(x)), 1000.0) for x in powers)])
    for tensor in inputs(difference):
        sizes = tensor.abs().double() if not tensor.is_complex() else tensor.abs()
        sizes = sizes[sizes.isfinite() & (sizes > 0)]
        # Half precision is computed in float32.
        largest = torch.finfo(torch.promote_types(tensor.dtype, torch.float32)).max
        limit = largest ** (1 / highest) / 8
        if sizes.numel() and bool((sizes > limit).any() | (sizes < 1 / limit).any()):
            return True
    return False


def has_strided_parameters(difference: Difference) -> bool:
    parameters = tensors_of(difference.call.arguments[1])
    return any(x.dim() == 1 and not x.is_contiguous() for x in parameters)


def has_large_degrees(difference: Difference) -> bool:
    """Return True if a degree, the second argument, is 1000 or more, or NaN."""
    first, rest, _ = difference.call.arguments
    degrees = rest[0] if rest else first
    return isinstance(degrees, torch.Tensor) and not bool((to_host(degrees).abs() < 1000).all())


def has_negative_scalar(difference: Difference) -> bool:
    """Return True if an argument is a float below zero."""
    leaves = tree_leaves(difference.call.arguments)
    return any(type(x) is float and x < 0 for x in leaves)


def has_infinite_scalar(difference: Difference) -> bool:
    leaves = tree_leaves(difference.call.arguments)
    return any(type(x) is float and not math.isfinite(x) for x in leaves)


def has_nan_input(difference: Difference) -> bool:
    return any(bool(x.isnan().any()) for x in inputs(difference))


def has_alpha_of_zero(difference: Difference) -> bool:
    return difference.call.arguments[2].get("alpha") == 0


def crops_and_wraps_around(difference: Difference) -> bool:
    """Return True if a dimension is cropped on one side and padded on the other by more than the
    elements that are left."""
    first, rest, _ = difference.call.arguments
    pads = next(list(x) for x in rest if isinstance(x, (list, tuple)))
    for dim, (before, after) in enumerate(zip(pads[::2], pads[1::2], strict=True)):
        left = first.shape[-1 - dim] + min(before, 0) + min(after, 0)
        if min(before, after) < 0 and max(before, after) > left:
            return True
    return False

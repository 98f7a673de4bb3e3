"""Upsampling by kernels that depend on the content, and its gradients.

Source: Wang et al., CARAFE: Content-aware reassembly of features, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, Unspecified, reference

Cells = tuple[Any, ...]


def _windows(shape: tuple[int, ...], kernel: int, scale: int) -> Iterator[tuple[int, Cells, Cells]]:
    """Yield the index of each tap, cells of the output, and the input cells that they read.

    Output cells are grouped by phase of the upsampling.
    """
    radius, plane = kernel // 2, shape[2:]
    for tap, places in enumerate(np.ndindex(kernel, kernel)):
        moves = [place - radius for place in places]
        lines = [
            np.arange(max(0, -move), max(0, min(size, size - move)))
            for move, size in zip(moves, plane, strict=True)
        ]
        met = np.ix_(*(line + move for line, move in zip(lines, moves, strict=True)))
        for phase in np.ndindex(scale, scale):
            to = np.ix_(*(line * scale + p for line, p in zip(lines, phase, strict=True)))
            yield tap, to, met


def _at(cells: Cells, tap: int | slice = slice(None)) -> Cells:
    """Return the index of cells in a grouped tensor: all of its third axis, or one tap."""
    return (slice(None), slice(None), tap, *cells)


def _grouped(values: Array, groups: int) -> Array:
    """Reshape to [N, groups, channels per group, H, W]."""
    return values.reshape(len(values), groups, values.shape[1] // groups, *values.shape[2:])


def _output(features: Array, masks: Array, kernel: int, groups: int, scale: int) -> Expected:
    n, channels, *plane = features.shape
    shape = (n, channels, *(size * scale for size in plane))
    value = np.zeros(shape, np.longdouble)
    size, count = np.zeros_like(value), np.ones(shape, np.int64)
    sums = [_grouped(x, groups) for x in (value, size, count)]
    planes, shares = _grouped(features, groups), _grouped(masks, groups)
    for tap, to, met in _windows(features.shape, kernel, scale):
        terms = np.expand_dims(shares[_at(to, tap)], 2) * planes[_at(met)]
        for total, more in zip(sums, (terms, np.abs(terms), 1), strict=True):
            total[_at(to)] += more
    return Expected(value, count, size)


def _gradients(
    top_grad: Array,
    features: Array,
    masks: Array,
    before: tuple[Array, Array] | None,
    sizes: tuple[int, int, int],
) -> tuple[Expected, Expected]:
    """Return the gradients of features and masks, added to the previous contents."""
    kernel, groups, scale = sizes
    found = []
    for at, like in enumerate((features, masks)):
        start = np.zeros(like.shape, np.longdouble) if before is None else before[at]
        found.append((start.copy(), np.ones(like.shape, np.int64), np.abs(start)))
    to_features, to_masks = ([_grouped(x, groups) for x in each] for each in found)
    grads, planes, shares = (_grouped(x, groups) for x in (top_grad, features, masks))
    for tap, to, met in _windows(features.shape, kernel, scale):
        grad = grads[_at(to)]
        terms = grad * np.expand_dims(shares[_at(to, tap)], 2)
        for total, more in zip(to_features, (terms, 1, np.abs(terms)), strict=True):
            total[_at(met)] += more
        terms = grad * planes[_at(met)]
        sums = (terms.sum(axis=2), terms.shape[2], np.abs(terms).sum(axis=2))
        for total, more in zip(to_masks, sums, strict=True):
            total[_at(to, tap)] += more
    return Expected(*found[0]), Expected(*found[1])


def _last(like: Array, channels: int) -> Unspecified:
    """Return a workspace for a tensor in channels-last order."""
    return Unspecified((len(like), *like.shape[2:], channels))


@reference("diopiCarafeMmcv")
def carafe(
    *, features: Array, masks: Array, kernel_size: int, group_size: int, scale_factor: int
) -> dict[str, Any]:
    return {
        "output": _output(features, masks, kernel_size, group_size, scale_factor),
        "rfeatures": Expected(np.moveaxis(features, 1, 3), op_class="exact"),
        "routput": _last(masks, features.shape[1]),
        "rmasks": _last(masks, masks.shape[1]),
    }


@reference("diopiCarafeNaiveMmcv")
def carafe_naive(
    *, features: Array, masks: Array, kernel_size: int, group_size: int, scale_factor: int
) -> dict[str, Any]:
    return {"output": _output(features, masks, kernel_size, group_size, scale_factor)}


@reference("diopiCarafeBackwardMmcv")
def carafe_backward(
    *,
    top_grad: Array,
    rfeatures: Array,
    masks: Array,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
) -> dict[str, Any]:
    features = np.moveaxis(rfeatures, 3, 1)
    sizes = (kernel_size, group_size, scale_factor)
    bottom, mask = _gradients(top_grad, features, masks, None, sizes)
    return {
        "bottom_grad": bottom,
        "mask_grad": mask,
        "rtop_grad": _last(top_grad, features.shape[1]),
        "rbottom_grad_hs": _last(top_grad, features.shape[1]),
        "rbottom_grad": _last(features, features.shape[1]),
        "rmask_grad": _last(masks, masks.shape[1]),
    }


@reference("diopiCarafeNaiveBackwardMmcv")
def carafe_naive_backward(
    *,
    bottom_grad: Array,
    mask_grad: Array,
    top_grad: Array,
    features: Array,
    masks: Array,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
) -> dict[str, Any]:
    sizes = (kernel_size, group_size, scale_factor)
    bottom, mask = _gradients(top_grad, features, masks, (bottom_grad, mask_grad), sizes)
    return {"bottom_grad": bottom, "mask_grad": mask}

"""Pooling over three dimensions, and adaptive maxima over two."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, LAYOUTS, Array, check, numbers, out_like, place

VOLUME = (5, 4, 6)
# kernel, stride, padding
WINDOWS = [
    ((2, 2, 2), (2, 2, 2), (0, 0, 0)),
    ((3, 2, 3), (1, 2, 1), (1, 1, 0)),
]
Spans = list[list[range]]
"""For each dimension the cells of each window."""


def window_spans(window: tuple[tuple[int, ...], ...]) -> Spans:
    return [
        [
            range(max(i * s - p, 0), min(i * s - p + k, extent))
            for i in range((extent + 2 * p - k) // s + 1)
        ]
        for extent, k, s, p in zip(VOLUME, *window, strict=True)
    ]


def adaptive_spans(extents: tuple[int, ...], size: tuple[int, ...]) -> Spans:
    return [
        [range(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]
        for extent, count in zip(extents, size, strict=True)
    ]


def places_of(spans: Spans, extents: tuple[int, ...]) -> tuple[tuple[int, ...], list[Array]]:
    """The shape of the output, and for each window the flat positions of its cells."""
    places = [
        np.array([np.ravel_multi_index(cell, extents) for cell in product(*window)])
        for window in product(*spans)
    ]
    return tuple(len(each) for each in spans), places


def check_maxima(
    vendor: Vendor,
    names: tuple[str, str, str],
    dtype: str,
    layout: str,
    spans: Spans,
    extents: tuple[int, ...],
    arguments: tuple[Any, ...],
    backward: tuple[Any, ...],
) -> None:
    plain, with_indices, of_gradient = names
    size, places = places_of(spans, extents)
    a, x = place(vendor, np.round(numbers((2, 3, *extents), dtype, 141, -8, 8)), dtype, layout)
    flat = x.reshape(2, 3, -1)
    where = np.stack([at[flat[..., at].argmax(-1)] for at in places], -1)
    want = np.take_along_axis(flat, where, -1).reshape(2, 3, *size)
    out, indices = out_like(vendor, want.shape, dtype), out_like(vendor, want.shape, "int64")
    vendor.op[f"diopi{with_indices}"](out, indices, a, *arguments)
    check(out, want, OpClass.EXACT, with_indices)
    assert np.array_equal(indices.numpy(), where.reshape(want.shape))
    alone = out_like(vendor, want.shape, dtype, layout)
    vendor.op[f"diopi{plain}"](alone, a, *arguments)
    check(alone, want, OpClass.EXACT, plain)

    g, grad = place(vendor, numbers(want.shape, dtype, 142), dtype, layout)
    gradient, magnitude = np.zeros_like(flat), np.zeros_like(flat)
    for n, c in np.ndindex(2, 3):
        np.add.at(gradient[n, c], where[n, c], grad[n, c].ravel())
        np.add.at(magnitude[n, c], where[n, c], np.abs(grad[n, c].ravel()))
    gi = out_like(vendor, x.shape, dtype, layout)
    vendor.op[f"diopi{of_gradient}"](gi, g, a, *backward, indices)
    check(
        gi,
        gradient.reshape(x.shape),
        OpClass.REDUCTION,
        of_gradient,
        reduction_length=27,
        magnitude=magnitude.reshape(x.shape),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_max_pool_of_volumes(
    vendor: Vendor, dtype: str, window: tuple[tuple[int, ...], ...], layout: str
) -> None:
    names = ("MaxPool3d", "MaxPool3dWithIndices", "MaxPool3dBackward")
    arguments = (*window, (1, 1, 1), False)
    spans = window_spans(window)
    check_maxima(vendor, names, dtype, layout, spans, VOLUME, arguments, arguments)


@pytest.mark.parametrize("size", [(1, 1, 1), (2, 3, 4), (5, 4, 6)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_adaptive_max_pool(vendor: Vendor, dtype: str, size: tuple[int, ...]) -> None:
    names = ("AdaptiveMaxPool3d", "AdaptiveMaxPool3dWithIndices", "AdaptiveMaxPool3dBackward")
    spans = adaptive_spans(VOLUME, size)
    check_maxima(vendor, names, dtype, "dense", spans, VOLUME, (size,), ())
    names = ("AdaptiveMaxPool2d", "AdaptiveMaxPool2dWithIndices", "AdaptiveMaxPool2dBackward")
    spans = adaptive_spans(VOLUME[1:], size[1:])
    check_maxima(vendor, names, dtype, "dense", spans, VOLUME[1:], (size[1:],), ())


def check_means(
    vendor: Vendor,
    names: tuple[str, str],
    dtype: str,
    weights: Array,
    size: tuple[int, ...],
    arguments: tuple[Any, ...],
    backward: tuple[Any, ...],
) -> None:
    """`weights` has a row for each output, a column for each input."""
    a, x = place(vendor, numbers((2, 3, *VOLUME), dtype, 143), dtype, "transposed")
    flat = x.reshape(2, 3, -1)
    out = out_like(vendor, (2, 3, *size), dtype)
    vendor.op[f"diopi{names[0]}"](out, a, *arguments)
    terms = {"reduction_length": int((weights != 0).sum(-1).max())}
    magnitude = (np.abs(flat) @ weights.T).reshape(out.shape)
    want = (flat @ weights.T).reshape(out.shape)
    check(out, want, OpClass.REDUCTION, names[0], magnitude=magnitude, **terms)

    g, grad = place(vendor, numbers((2, 3, *size), dtype, 144), dtype)
    gi = out_like(vendor, x.shape, dtype)
    vendor.op[f"diopi{names[1]}"](gi, g, a, *backward)
    flat = grad.reshape(2, 3, -1)
    magnitude = (np.abs(flat) @ weights).reshape(x.shape)
    terms = {"reduction_length": int((weights != 0).sum(0).max())}
    want = (flat @ weights).reshape(x.shape)
    check(gi, want, OpClass.REDUCTION, names[1], magnitude=magnitude, **terms)


def mean_weights(places: list[Array], cells: int | None) -> Array:
    """`cells` is what each sum is divided by; None: by how many cells it has."""
    weights = np.zeros((len(places), int(np.prod(VOLUME))), np.longdouble)
    for row, at in zip(weights, places, strict=True):
        row[at] = np.longdouble(1) / (len(at) if cells is None else cells)
    return weights


@pytest.mark.parametrize("divisor", [None, 5])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_avg_pool_of_volumes(
    vendor: Vendor, dtype: str, window: tuple[tuple[int, ...], ...], divisor: int | None
) -> None:
    size, places = places_of(window_spans(window), VOLUME)
    arguments = (*window, False, False, divisor)
    names = ("AvgPool3d", "AvgPool3dBackward")
    weights = mean_weights(places, divisor)
    check_means(vendor, names, dtype, weights, size, arguments, arguments)


@pytest.mark.parametrize("size", [(1, 1, 1), (2, 3, 4), (7, 4, 2)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_adaptive_avg_pool_of_volumes(vendor: Vendor, dtype: str, size: tuple[int, ...]) -> None:
    _, places = places_of(adaptive_spans(VOLUME, size), VOLUME)
    names = ("AdaptiveAvgPool3d", "AdaptiveAvgPool3dBackward")
    check_means(vendor, names, dtype, mean_weights(places, None), size, (size,), ())

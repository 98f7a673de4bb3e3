"""Tests of adaptive max pooling in two and three dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from pooling_windows import (
    CHANNELS,
    IMAGE_LAYOUTS,
    PLANE_CUTS,
    VOLUME,
    VOLUME_CUTS,
    adaptive,
    largest,
    out_image,
    place_image,
    scattered,
)
from support import FLOATS, NUMBERS, check, numbers, out_like


@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize("cut", PLANE_CUTS + VOLUME_CUTS, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_adaptive_max_pool(
    vendor: Vendor, dtype: str, cut: tuple[tuple[int, ...], tuple[int, ...]], layout: str
) -> None:
    sizes, outputs = cut
    # Few distinct values: the first of equal ones must win.
    source = np.round(numbers((2, 3, *sizes), dtype, 421, -8, 8))
    a, x = place_image(vendor, source, dtype, layout)
    want, where = largest(x, adaptive(sizes, outputs))
    out = out_image(vendor, want.shape, dtype, layout)
    alone = out_image(vendor, want.shape, dtype, layout)
    indices = out_image(vendor, want.shape, "int64", layout)
    if len(sizes) == 2:
        vendor.op.AdaptiveMaxPool2dWithIndices(out, indices, a, outputs)
        vendor.op.AdaptiveMaxPool2d(alone, a, outputs)
    else:
        vendor.op.AdaptiveMaxPool3dWithIndices(out, indices, a, outputs)
        vendor.op.AdaptiveMaxPool3d(alone, a, outputs)
    check(out, want, OpClass.EXACT, "AdaptiveMaxPoolWithIndices")
    check(indices, where, OpClass.EXACT, "AdaptiveMaxPoolWithIndices")
    check(alone, want, OpClass.EXACT, "AdaptiveMaxPool")


@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize("cut", PLANE_CUTS + VOLUME_CUTS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_of_adaptive_max_pool(
    vendor: Vendor, dtype: str, cut: tuple[tuple[int, ...], tuple[int, ...]], layout: str
) -> None:
    sizes, outputs = cut
    source = np.round(numbers((2, 3, *sizes), dtype, 422, -8, 8))
    a, x = place_image(vendor, source, dtype, layout)
    where = largest(x, adaptive(sizes, outputs))[1]
    g, grad = place_image(vendor, numbers(where.shape, dtype, 423), dtype, layout)
    indices = place_image(vendor, where, "int64", layout)[0]
    want, size, met = scattered(grad, where, sizes)
    out = out_image(vendor, x.shape, dtype, layout)
    if len(sizes) == 2:
        vendor.op.AdaptiveMaxPool2dBackward(out, g, a, indices)
    else:
        vendor.op.AdaptiveMaxPool3dBackward(out, g, a, indices)
    bound = {"reduction_length": met, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "AdaptiveMaxPoolBackward", **bound)


@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize("cut", PLANE_CUTS + VOLUME_CUTS, ids=str)
def test_gradient_of_maxima_from_anywhere(
    vendor: Vendor, cut: tuple[tuple[int, ...], tuple[int, ...]], layout: str
) -> None:
    """Like fractional pooling, whose windows are placed at random and overlap."""
    sizes, outputs = cut
    # Few cells, so that many gradients are added to each.
    where = np.random.default_rng(429).integers(0, 5, (2, 3, *outputs)) * (np.prod(sizes) // 5)
    x = out_image(vendor, (2, 3, *sizes), "float32", layout)
    g, grad = place_image(vendor, numbers(where.shape, "float32", 430), "float32", layout)
    indices = place_image(vendor, where, "int64", layout)[0]
    want, size, met = scattered(grad, where, sizes)
    out = out_image(vendor, x.shape, "float32", layout)
    if len(sizes) == 2:
        vendor.op.AdaptiveMaxPool2dBackward(out, g, x, indices)
    else:
        vendor.op.AdaptiveMaxPool3dBackward(out, g, x, indices)
    bound = {"reduction_length": met, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "AdaptiveMaxPoolBackward", **bound)


@pytest.mark.parametrize("layout", ["dense", CHANNELS])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_wins_and_infinities_are_values(vendor: Vendor, dtype: str, layout: str) -> None:
    source = np.full((1, 2, 4, 4), -np.inf)
    source[0, 0, 0, 1] = np.nan
    source[0, 0, 2, 2] = np.inf
    source[0, 1, 3, 3] = -7
    a = place_image(vendor, source, dtype, layout)[0]
    out = out_image(vendor, (1, 2, 2, 2), dtype, layout)
    indices = out_image(vendor, (1, 2, 2, 2), "int64", layout)
    vendor.op.AdaptiveMaxPool2dWithIndices(out, indices, a, (2, 2))
    low = -np.inf
    want = np.array([[[[np.nan, low], [low, np.inf]], [[low, low], [low, -7]]]])
    check(out, want, OpClass.EXACT, "AdaptiveMaxPool2dWithIndices")
    assert indices.numpy().tolist() == [[[[1, 2], [8, 10]], [[0, 2], [8, 15]]]]


def test_volume_without_a_batch(vendor: Vendor) -> None:
    a, x = place_image(vendor, numbers((3, *VOLUME), "float32", 428), "float32", "dense")
    want, where = largest(x, adaptive(VOLUME, (3, 4, 4)))
    out, indices = out_like(vendor, want.shape, "float32"), out_like(vendor, want.shape, "int64")
    vendor.op.AdaptiveMaxPool3dWithIndices(out, indices, a, (3, 4, 4))
    check(out, want, OpClass.EXACT, "AdaptiveMaxPool3dWithIndices")
    check(indices, where, OpClass.EXACT, "AdaptiveMaxPool3dWithIndices")


@pytest.mark.parametrize(
    ("shape", "size"), [((0, 3, 4, 4, 4), (2, 2, 2)), ((1, 3, 4, 4, 4), (0, 2, 2))]
)
def test_empty_batch_and_empty_output(
    vendor: Vendor, shape: tuple[int, ...], size: tuple[int, ...]
) -> None:
    x = out_like(vendor, shape, "float32")
    out = out_like(vendor, (*shape[:2], *size), "float32")
    indices = out_like(vendor, (*shape[:2], *size), "int64")
    vendor.op.AdaptiveMaxPool3d(out, x, size)
    vendor.op.AdaptiveMaxPool3dWithIndices(out, indices, x, size)
    gi = out_like(vendor, shape, "float32")
    vendor.op.AdaptiveMaxPool3dBackward(gi, out, x, indices)
    assert not gi.numpy().any()


@pytest.mark.parametrize("bad", [16, -1])
def test_position_outside_of_the_plane_is_refused(vendor: Vendor, bad: int) -> None:
    x, g = out_like(vendor, (2, 4, 4), "float32"), out_like(vendor, (2, 1, 1), "float32")
    index = vendor.tensor(np.array([0, bad]).reshape(2, 1, 1))
    message = rf"\[diopiAdaptiveMaxPool2dBackward\] index {bad} is out of range for planes of 16"
    with pytest.raises(OperatorError, match=message):
        vendor.op.AdaptiveMaxPool2dBackward(x, g, x, index)


def test_what_does_not_fit_is_named(vendor: Vendor) -> None:
    x, out = out_like(vendor, (2, 4, 4, 4), "float32"), out_like(vendor, (2, 2, 2, 2), "float32")
    short = out_like(vendor, (2, 2, 2), "float32")
    with pytest.raises(OperatorError, match="4 and 3 dimensions were given; both need 4 or 5"):
        vendor.op.AdaptiveMaxPool3d(short, x, (2, 2, 2))
    indices = out_like(vendor, (2, 2, 2, 1), "int64")
    with pytest.raises(OperatorError, match="grad_output does not have the shape of the indices"):
        vendor.op.AdaptiveMaxPool3dBackward(x, out, x, indices)
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.AdaptiveMaxPool3dBackward(x, out, x, out_like(vendor, (2, 2, 2, 2), "int32"))

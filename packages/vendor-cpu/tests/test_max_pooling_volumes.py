"""Tests of three-dimensional max pooling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from pooling_windows import (
    CHANNELS,
    IMAGE_LAYOUTS,
    VOLUME,
    VOLUME_WINDOWS,
    largest,
    out_image,
    place_image,
    scattered,
    sliding,
)
from support import FLOATS, NUMBERS, Array, check, numbers, out_like, place

SHAPE = (2, 3, *VOLUME)


@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize("window", VOLUME_WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_max_pool(vendor: Vendor, dtype: str, window: tuple[Any, ...], layout: str) -> None:
    # Few distinct values: the first of equal ones must win.
    a, x = place_image(vendor, np.round(numbers(SHAPE, dtype, 401, -8, 8)), dtype, layout)
    want, where = largest(x, sliding(window, VOLUME))
    out = out_image(vendor, want.shape, dtype, layout)
    indices = out_image(vendor, want.shape, "int64", layout)
    vendor.op.MaxPool3dWithIndices(out, indices, a, *window)
    check(out, want, OpClass.EXACT, "MaxPool3dWithIndices")
    check(indices, where, OpClass.EXACT, "MaxPool3dWithIndices")
    alone = out_image(vendor, want.shape, dtype, layout)
    vendor.op.MaxPool3d(alone, a, *window)
    check(alone, want, OpClass.EXACT, "MaxPool3d")


@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize("window", VOLUME_WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_of_max_pool(
    vendor: Vendor, dtype: str, window: tuple[Any, ...], layout: str
) -> None:
    a, x = place_image(vendor, np.round(numbers(SHAPE, dtype, 402, -8, 8)), dtype, layout)
    where = largest(x, sliding(window, VOLUME))[1]
    g, grad = place_image(vendor, numbers(where.shape, dtype, 403), dtype, layout)
    indices = place_image(vendor, where, "int64", layout)[0]
    want, size, met = scattered(grad, where, VOLUME)
    out = out_image(vendor, SHAPE, dtype, layout)
    vendor.op.MaxPool3dBackward(out, g, a, *window, indices)
    bound = {"reduction_length": met, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "MaxPool3dBackward", **bound)


def test_lists_may_be_short_or_absent_and_a_batch_too(vendor: Vendor) -> None:
    a, x = place(vendor, numbers(SHAPE[1:], "float32", 406), "float32")
    lines = sliding(((2, 2, 2), (2, 2, 2), (1, 1, 1), (1, 1, 1), False), VOLUME)
    want, where = largest(x, lines)
    out, indices = out_like(vendor, want.shape, "float32"), out_like(vendor, want.shape, "int64")
    vendor.op.MaxPool3dWithIndices(out, indices, a, (2,), None, (1,), (1,), False)
    check(out, want, OpClass.EXACT, "MaxPool3dWithIndices")
    gi = out_like(vendor, SHAPE[1:], "float32")
    vendor.op.MaxPool3dBackward(gi, out, a, (2,), None, (1,), (1,), False, indices)
    total, size, met = scattered(want, where, VOLUME)
    bound = {"reduction_length": met, "magnitude": size}
    check(gi, total, OpClass.REDUCTION, "MaxPool3dBackward", **bound)


@pytest.mark.parametrize("layout", ["dense", CHANNELS])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_wins_and_infinities_are_values(vendor: Vendor, dtype: str, layout: str) -> None:
    """Padding never wins, whatever the window contains."""
    source = np.full((1, 2, 2, 4, 4), -np.inf)
    source[0, 0, 0, 0, 1] = np.nan
    source[0, 0, 1, 1, 1] = np.inf
    source[0, 1, 1, 3, 3] = -7
    a = place_image(vendor, source, dtype, layout)[0]
    out = out_image(vendor, (1, 2, 2, 3, 3), dtype, layout)
    indices = out_image(vendor, (1, 2, 2, 3, 3), "int64", layout)
    arguments = ((2, 2, 2), (2, 2, 2), (1, 1, 1), (1, 1, 1), False)
    vendor.op.MaxPool3dWithIndices(out, indices, a, *arguments)
    want = np.full((1, 2, 2, 3, 3), -np.inf)
    want[0, 0, 0, 0, 1], want[0, 0, 1, 1, 1], want[0, 1, 1, 2, 2] = np.nan, np.inf, -7
    check(out, want, OpClass.EXACT, "MaxPool3dWithIndices")
    found = indices.numpy()
    assert (found[0, 0, 0, 0, 1], found[0, 0, 1, 1, 1], found[0, 1, 1, 2, 2]) == (1, 21, 31)
    # Only the lowest value: the first cell wins.
    assert found[0, 1, 0].tolist() == [[0, 1, 3], [4, 5, 7], [12, 13, 15]]
    vendor.op.MaxPool3d(out, a, *arguments)
    check(out, want, OpClass.EXACT, "MaxPool3d")


@pytest.mark.parametrize("layouts", [("dense", CHANNELS), (CHANNELS, "dense")], ids=str)
def test_input_and_output_may_lie_differently(vendor: Vendor, layouts: tuple[str, str]) -> None:
    window = VOLUME_WINDOWS[2]
    a, x = place_image(vendor, numbers(SHAPE, "float32", 407), "float32", layouts[0])
    want, where = largest(x, sliding(window, VOLUME))
    out = out_image(vendor, want.shape, "float32", layouts[1])
    indices = out_image(vendor, want.shape, "int64", layouts[0])
    vendor.op.MaxPool3dWithIndices(out, indices, a, *window)
    check(out, want, OpClass.EXACT, "MaxPool3dWithIndices")
    check(indices, where, OpClass.EXACT, "MaxPool3dWithIndices")


def test_many_windows_are_shared_among_threads(vendor: Vendor) -> None:
    shape, window = (4, 40, 12, 20, 24), ((3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1), False)
    x: Array = numbers(shape, "float32", 408).astype(np.float32)
    want, where = largest(x, sliding(window, shape[2:]))
    for layout in ("dense", CHANNELS):
        a = place_image(vendor, x, "float32", layout)[0]
        out = out_image(vendor, want.shape, "float32", layout)
        indices = out_image(vendor, want.shape, "int64", layout)
        vendor.op.MaxPool3dWithIndices(out, indices, a, *window)
        assert np.array_equal(out.numpy(), want)
        assert np.array_equal(indices.numpy(), where)


def test_empty_batch(vendor: Vendor) -> None:
    x = out_like(vendor, (0, 3, 4, 4, 4), "float32")
    out = out_like(vendor, (0, 3, 2, 2, 2), "float32")
    indices = out_like(vendor, (0, 3, 2, 2, 2), "int64")
    lists = ((2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), False)
    vendor.op.MaxPool3d(out, x, *lists)
    vendor.op.MaxPool3dWithIndices(out, indices, x, *lists)
    vendor.op.MaxPool3dBackward(x, out, x, *lists, indices)
    assert out.numpy().shape == (0, 3, 2, 2, 2)


def test_gradient_without_windows_is_zero(vendor: Vendor) -> None:
    x = out_like(vendor, (1, 2, 3, 3, 3), "float32")
    g = out_like(vendor, (1, 2, 0, 2, 2), "float32")
    indices = out_like(vendor, (1, 2, 0, 2, 2), "int64")
    vendor.op.AdaptiveMaxPool3dBackward(x, g, x, indices)
    assert not x.numpy().any()


@pytest.mark.parametrize("bad", [64, -1])
def test_position_outside_of_the_volume_is_refused(vendor: Vendor, bad: int) -> None:
    x, g = (
        out_like(vendor, (1, 1, 4, 4, 4), "float32"),
        out_like(vendor, (1, 1, 2, 2, 2), "float32"),
    )
    index = np.zeros((1, 1, 2, 2, 2), np.int64)
    index[0, 0, 1, 0, 1] = bad
    lists = ((2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), False)
    message = rf"\[diopiMaxPool3dBackward\] index {bad} is out of range for planes of 64 elements"
    with pytest.raises(OperatorError, match=message):
        vendor.op.MaxPool3dBackward(x, g, x, *lists, vendor.tensor(index))


def test_what_does_not_fit_is_named(vendor: Vendor) -> None:
    x = out_like(vendor, (1, 2, 4, 4, 4), "float32")
    out = out_like(vendor, (1, 2, 2, 2, 2), "float32")
    two, none, one = (2, 2, 2), (0, 0, 0), (1, 1, 1)
    flat = out_like(vendor, (2, 4, 4), "float32")
    with pytest.raises(OperatorError, match="3 and 5 dimensions were given; both need 4 or 5"):
        vendor.op.MaxPool3d(out, flat, two, two, none, one, False)
    with pytest.raises(OperatorError, match="kernel 0, stride 2, padding 0, dilation 1"):
        vendor.op.MaxPool3d(out, x, (2, 0, 2), two, none, one, False)
    wrong = out_like(vendor, (1, 2, 2, 2, 1), "int64")
    with pytest.raises(OperatorError, match="indices do not have the shape of the output"):
        vendor.op.MaxPool3dWithIndices(out, wrong, x, two, two, none, one, False)
    wide = out_like(vendor, (1, 2, 2, 2, 2), "float64")
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.MaxPool3d(wide, x, two, two, none, one, False)

"""Pooling of volumes, given the windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from pooling_windows import (
    CHANNELS,
    Line,
    counts,
    largest,
    means,
    out_image,
    place_image,
    scattered,
    spread,
)
from support import FLOATS, NUMBERS, Array, check, numbers, out_like, place

SIZES = (5, 6, 7)
SHAPE = (2, 3, *SIZES)
LAYOUTS = ("dense", "transposed", "sliced", CHANNELS)

# kernel, stride, padding, dilation, ceil_mode
WINDOWS: list[tuple[Any, ...]] = [
    ((2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), False),
    ((1, 3, 2), (1, 2, 1), (0, 1, 1), (1, 1, 1), False),
    # A last window that would begin in the padding, and one that reaches beyond it.
    ((2, 3, 3), (2, 3, 2), (1, 1, 1), (1, 1, 1), True),
    ((2, 2, 2), (1, 3, 2), (0, 1, 1), (2, 1, 3), True),
    ((5, 6, 7), (1, 1, 1), (0, 0, 0), (1, 1, 1), False),
]
UNDILATED = [window for window in WINDOWS if window[3] == (1, 1, 1)]


def lines_of(window: tuple[Any, ...], sizes: tuple[int, ...] = SIZES) -> list[Line]:
    *lists, ceil = window
    return [Line.sliding(*each, ceil) for each in zip(sizes, *lists, strict=True)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_max_pool(vendor: Vendor, dtype: str, window: tuple[Any, ...], layout: str) -> None:
    # Few different values: the first of equals has to win.
    a, x = place_image(vendor, np.round(numbers(SHAPE, dtype, 401, -8, 8)), dtype, layout)
    want, where = largest(x, lines_of(window))
    out = out_image(vendor, want.shape, dtype, layout)
    indices = out_image(vendor, want.shape, "int64", layout)
    vendor.op.MaxPool3dWithIndices(out, indices, a, *window)
    check(out, want, OpClass.EXACT, "MaxPool3dWithIndices")
    check(indices, where, OpClass.EXACT, "MaxPool3dWithIndices")
    alone = out_image(vendor, want.shape, dtype, layout)
    vendor.op.MaxPool3d(alone, a, *window)
    check(alone, want, OpClass.EXACT, "MaxPool3d")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_of_max_pool(
    vendor: Vendor, dtype: str, window: tuple[Any, ...], layout: str
) -> None:
    a, x = place_image(vendor, np.round(numbers(SHAPE, dtype, 402, -8, 8)), dtype, layout)
    where = largest(x, lines_of(window))[1]
    g, grad = place_image(vendor, numbers(where.shape, dtype, 403), dtype, layout)
    indices = place_image(vendor, where, "int64", layout)[0]
    want, size, met = scattered(grad, where, SIZES)
    out = out_image(vendor, SHAPE, dtype, layout)
    vendor.op.MaxPool3dBackward(out, g, a, *window, indices)
    terms = {"reduction_length": met, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "MaxPool3dBackward", **terms)


@pytest.mark.parametrize("divisor", [None, 5, -3])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("window", UNDILATED, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_avg_pool_and_its_gradient(
    vendor: Vendor,
    dtype: str,
    window: tuple[Any, ...],
    layout: str,
    include: bool,
    divisor: int | None,
) -> None:
    lines, (kernel, stride, padding, _, ceil) = lines_of(window), window
    arguments = (kernel, stride, padding, ceil, include, divisor)
    divisors = counts(lines, include, divisor)
    a, x = place_image(vendor, numbers(SHAPE, dtype, 404), dtype, layout)
    want, size, length = means(x, lines, divisors)
    out = out_image(vendor, want.shape, dtype, layout)
    vendor.op.AvgPool3d(out, a, *arguments)
    terms = {"reduction_length": length, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "AvgPool3d", **terms)

    g, grad = place_image(vendor, numbers(want.shape, dtype, 405), dtype, layout)
    want, size, length = spread(grad, lines, divisors)
    gi = out_image(vendor, SHAPE, dtype, layout)
    vendor.op.AvgPool3dBackward(gi, g, a, *arguments)
    terms = {"reduction_length": length, "magnitude": size}
    check(gi, want, OpClass.REDUCTION, "AvgPool3dBackward", **terms)


def test_lists_may_be_short_or_absent_and_a_batch_too(vendor: Vendor) -> None:
    a, x = place(vendor, numbers(SHAPE[1:], "float32", 406), "float32")
    lines = lines_of(((2, 2, 2), (2, 2, 2), (1, 1, 1), (1, 1, 1), False))
    want, where = largest(x, lines)
    out, indices = out_like(vendor, want.shape, "float32"), out_like(vendor, want.shape, "int64")
    vendor.op.MaxPool3dWithIndices(out, indices, a, (2,), None, (1,), (1,), False)
    check(out, want, OpClass.EXACT, "MaxPool3dWithIndices")
    gi = out_like(vendor, SHAPE[1:], "float32")
    vendor.op.MaxPool3dBackward(gi, out, a, (2,), None, (1,), (1,), False, indices)
    total, size, met = scattered(want, where, SIZES)
    terms = {"reduction_length": met, "magnitude": size}
    check(gi, total, OpClass.REDUCTION, "MaxPool3dBackward", **terms)
    vendor.op.AvgPool3d(out, a, (2,), None, (1,), False, False, None)
    want, size, length = means(x, lines, counts(lines))
    terms = {"reduction_length": length, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "AvgPool3d", **terms)


@pytest.mark.parametrize("layout", ["dense", CHANNELS])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_wins_and_infinities_are_values(vendor: Vendor, dtype: str, layout: str) -> None:
    """Padding never wins, whatever a window has."""
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
    # Nothing but the lowest value: the first cell.
    assert found[0, 1, 0].tolist() == [[0, 1, 3], [4, 5, 7], [12, 13, 15]]
    vendor.op.MaxPool3d(out, a, *arguments)
    check(out, want, OpClass.EXACT, "MaxPool3d")


@pytest.mark.parametrize("layouts", [("dense", CHANNELS), (CHANNELS, "dense")], ids=str)
def test_input_and_output_may_lie_differently(vendor: Vendor, layouts: tuple[str, str]) -> None:
    lines = lines_of(WINDOWS[2])
    kernel, stride, padding, dilation, ceil = WINDOWS[2]
    a, x = place_image(vendor, numbers(SHAPE, "float32", 407), "float32", layouts[0])
    want, where = largest(x, lines)
    out = out_image(vendor, want.shape, "float32", layouts[1])
    indices = out_image(vendor, want.shape, "int64", layouts[0])
    vendor.op.MaxPool3dWithIndices(out, indices, a, kernel, stride, padding, dilation, ceil)
    check(out, want, OpClass.EXACT, "MaxPool3dWithIndices")
    check(indices, where, OpClass.EXACT, "MaxPool3dWithIndices")
    mean, size, length = means(x, lines, counts(lines))
    vendor.op.AvgPool3d(out, a, kernel, stride, padding, ceil, False, None)
    terms = {"reduction_length": length, "magnitude": size}
    check(out, mean, OpClass.REDUCTION, "AvgPool3d", **terms)


def test_many_windows_are_shared_among_threads(vendor: Vendor) -> None:
    shape, window = (4, 40, 12, 20, 24), ((3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1), False)
    x: Array = numbers(shape, "float32", 408).astype(np.float32)
    want, where = largest(x, lines_of(window, shape[2:]))
    for layout in ("dense", CHANNELS):
        a = place_image(vendor, x, "float32", layout)[0]
        out = out_image(vendor, want.shape, "float32", layout)
        indices = out_image(vendor, want.shape, "int64", layout)
        vendor.op.MaxPool3dWithIndices(out, indices, a, *window)
        assert np.array_equal(out.numpy(), want)
        assert np.array_equal(indices.numpy(), where)


def test_empty_batch(vendor: Vendor) -> None:
    x, out = (
        out_like(vendor, (0, 3, 4, 4, 4), "float32"),
        out_like(vendor, (0, 3, 2, 2, 2), "float32"),
    )
    indices = out_like(vendor, (0, 3, 2, 2, 2), "int64")
    two, none, one = (2, 2, 2), (0, 0, 0), (1, 1, 1)
    vendor.op.MaxPool3d(out, x, two, two, none, one, False)
    vendor.op.MaxPool3dWithIndices(out, indices, x, two, two, none, one, False)
    vendor.op.MaxPool3dBackward(x, out, x, two, two, none, one, False, indices)
    vendor.op.AvgPool3d(out, x, two, two, none, False, True, None)
    vendor.op.AvgPool3dBackward(x, out, x, two, two, none, False, True, None)
    assert out.numpy().shape == (0, 3, 2, 2, 2)


def test_gradient_without_windows_is_zero(vendor: Vendor) -> None:
    x, g = (
        out_like(vendor, (1, 2, 3, 3, 3), "float32"),
        out_like(vendor, (1, 2, 0, 2, 2), "float32"),
    )
    indices = out_like(vendor, (1, 2, 0, 2, 2), "int64")
    arguments = ((2, 2, 2), (1, 1, 1), (0, 0, 0))
    vendor.op.MaxPool3dBackward(x, g, x, *arguments, (1, 1, 1), False, indices)
    assert not x.numpy().any()
    x = out_like(vendor, (1, 2, 3, 3, 3), "float32")
    vendor.op.AvgPool3dBackward(x, g, x, *arguments, False, True, None)
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
    x, out = (
        out_like(vendor, (1, 2, 4, 4, 4), "float32"),
        out_like(vendor, (1, 2, 2, 2, 2), "float32"),
    )
    two, none, one = (2, 2, 2), (0, 0, 0), (1, 1, 1)
    flat = out_like(vendor, (2, 4, 4), "float32")
    with pytest.raises(OperatorError, match="3 and 5 dimensions were given; both need 4 or 5"):
        vendor.op.MaxPool3d(out, flat, two, two, none, one, False)
    with pytest.raises(OperatorError, match="kernel 0, stride 2, padding 0, dilation 1"):
        vendor.op.MaxPool3d(out, x, (2, 0, 2), two, none, one, False)
    with pytest.raises(OperatorError, match="2 windows do not fit on 4 elements"):
        vendor.op.AvgPool3d(out, x, two, (2, 5, 2), none, False, True, None)
    with pytest.raises(OperatorError, match="3 and 2 elements in dim 1 were given"):
        vendor.op.AvgPool3d(
            out, out_like(vendor, (1, 3, 4, 4, 4), "float32"), two, two, none, False, True, None
        )
    with pytest.raises(OperatorError, match="divisor_override is 0"):
        vendor.op.AvgPool3d(out, x, two, two, none, False, True, 0)
    wrong = out_like(vendor, (1, 2, 2, 2, 1), "int64")
    with pytest.raises(OperatorError, match="indices do not have the shape of the output"):
        vendor.op.MaxPool3dWithIndices(out, wrong, x, two, two, none, one, False)
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.MaxPool3d(
            out_like(vendor, (1, 2, 2, 2, 2), "float64"), x, two, two, none, one, False
        )
    with pytest.raises(OperatorError, match="does not have the shape of the input"):
        vendor.op.AvgPool3dBackward(out, out, x, two, two, none, False, True, None)

"""Tests of three-dimensional average pooling."""

from __future__ import annotations

from typing import Any

import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from pooling_windows import (
    CHANNELS,
    IMAGE_LAYOUTS,
    VOLUME,
    VOLUME_WINDOWS,
    counts,
    means,
    out_image,
    place_image,
    sliding,
    spread,
)
from support import FLOATS, check, numbers, out_like, place

SHAPE = (2, 3, *VOLUME)
UNDILATED = [window for window in VOLUME_WINDOWS if window[3] == (1, 1, 1)]


@pytest.mark.parametrize("divisor", [None, 5, -3])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
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
    lines, (kernel, stride, padding, _, ceil) = sliding(window, VOLUME), window
    arguments = (kernel, stride, padding, ceil, include, divisor)
    divisors = counts(lines, include, divisor)
    a, x = place_image(vendor, numbers(SHAPE, dtype, 404), dtype, layout)
    want, size, length = means(x, lines, divisors)
    out = out_image(vendor, want.shape, dtype, layout)
    vendor.op.AvgPool3d(out, a, *arguments)
    bound = {"reduction_length": length, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "AvgPool3d", **bound)

    g, grad = place_image(vendor, numbers(want.shape, dtype, 405), dtype, layout)
    want, size, length = spread(grad, lines, divisors)
    gi = out_image(vendor, SHAPE, dtype, layout)
    vendor.op.AvgPool3dBackward(gi, g, a, *arguments)
    bound = {"reduction_length": length, "magnitude": size}
    check(gi, want, OpClass.REDUCTION, "AvgPool3dBackward", **bound)


def test_lists_may_be_short_or_absent_and_a_batch_too(vendor: Vendor) -> None:
    a, x = place(vendor, numbers(SHAPE[1:], "float32", 406), "float32")
    lines = sliding(((2, 2, 2), (2, 2, 2), (1, 1, 1), (1, 1, 1), False), VOLUME)
    want, size, length = means(x, lines, counts(lines))
    out = out_like(vendor, want.shape, "float32")
    vendor.op.AvgPool3d(out, a, (2,), None, (1,), False, False, None)
    bound = {"reduction_length": length, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "AvgPool3d", **bound)


@pytest.mark.parametrize("layouts", [("dense", CHANNELS), (CHANNELS, "dense")], ids=str)
def test_input_and_output_may_lie_differently(vendor: Vendor, layouts: tuple[str, str]) -> None:
    kernel, stride, padding, _, ceil = VOLUME_WINDOWS[2]
    lines = sliding(VOLUME_WINDOWS[2], VOLUME)
    a, x = place_image(vendor, numbers(SHAPE, "float32", 407), "float32", layouts[0])
    want, size, length = means(x, lines, counts(lines))
    out = out_image(vendor, want.shape, "float32", layouts[1])
    vendor.op.AvgPool3d(out, a, kernel, stride, padding, ceil, False, None)
    bound = {"reduction_length": length, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "AvgPool3d", **bound)


def test_empty_batch(vendor: Vendor) -> None:
    x = out_like(vendor, (0, 3, 4, 4, 4), "float32")
    out = out_like(vendor, (0, 3, 2, 2, 2), "float32")
    arguments = ((2, 2, 2), (2, 2, 2), (0, 0, 0), False, True, None)
    vendor.op.AvgPool3d(out, x, *arguments)
    vendor.op.AvgPool3dBackward(x, out, x, *arguments)
    assert out.numpy().shape == (0, 3, 2, 2, 2)


def test_gradient_without_windows_is_zero(vendor: Vendor) -> None:
    x = out_like(vendor, (1, 2, 3, 3, 3), "float32")
    g = out_like(vendor, (1, 2, 0, 2, 2), "float32")
    vendor.op.AdaptiveAvgPool3dBackward(x, g, x)
    assert not x.numpy().any()


def test_what_does_not_fit_is_named(vendor: Vendor) -> None:
    x = out_like(vendor, (1, 2, 4, 4, 4), "float32")
    out = out_like(vendor, (1, 2, 2, 2, 2), "float32")
    two, rest = (2, 2, 2), ((0, 0, 0), False, True)
    with pytest.raises(
        OperatorError, match="stride 5, padding 0, on 4 elements give 1 outputs; the output has 2"
    ):
        vendor.op.AvgPool3d(out, x, two, (2, 5, 2), *rest, None)
    with pytest.raises(OperatorError, match="3 and 2 elements in dim 1 were given"):
        vendor.op.AvgPool3d(
            out, out_like(vendor, (1, 3, 4, 4, 4), "float32"), two, two, *rest, None
        )
    with pytest.raises(OperatorError, match="divisor_override is 0"):
        vendor.op.AvgPool3d(out, x, two, two, *rest, 0)
    with pytest.raises(OperatorError, match="does not have the shape of the input"):
        vendor.op.AvgPool3dBackward(out, out, x, two, two, *rest, None)

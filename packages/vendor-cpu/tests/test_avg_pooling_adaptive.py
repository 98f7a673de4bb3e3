"""Tests of adaptive average pooling in two and three dimensions."""

from __future__ import annotations

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
    counts,
    means,
    out_image,
    place_image,
    spread,
)
from support import FLOATS, check, numbers, out_like

Cut = tuple[tuple[int, ...], tuple[int, ...]]


def check_pool_and_gradient(
    vendor: Vendor, name: str, dtype: str, cut: Cut, layout: str, seed: int
) -> None:
    sizes, outputs = cut
    lines = adaptive(sizes, outputs)
    a, x = place_image(vendor, numbers((2, 3, *sizes), dtype, seed), dtype, layout)
    want, size, length = means(x, lines, counts(lines))
    out = out_image(vendor, want.shape, dtype, layout)
    vendor.op[f"diopi{name}"](out, a, outputs)
    bound = {"reduction_length": length, "magnitude": size}
    check(out, want, OpClass.REDUCTION, name, **bound)

    g, grad = place_image(vendor, numbers(want.shape, dtype, seed + 1), dtype, layout)
    want, size, length = spread(grad, lines, counts(lines))
    gi = out_image(vendor, x.shape, dtype, layout)
    vendor.op[f"diopi{name}Backward"](gi, g, a)
    bound = {"reduction_length": length, "magnitude": size}
    check(gi, want, OpClass.REDUCTION, f"{name}Backward", **bound)


@pytest.mark.parametrize("layout", ["dense", CHANNELS])
@pytest.mark.parametrize("cut", PLANE_CUTS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_adaptive_avg_pool_and_its_gradient(
    vendor: Vendor, dtype: str, cut: Cut, layout: str
) -> None:
    check_pool_and_gradient(vendor, "AdaptiveAvgPool2d", dtype, cut, layout, 135)


@pytest.mark.parametrize("layout", IMAGE_LAYOUTS)
@pytest.mark.parametrize("cut", VOLUME_CUTS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_adaptive_avg_pool_of_volumes_and_its_gradient(
    vendor: Vendor, dtype: str, cut: Cut, layout: str
) -> None:
    check_pool_and_gradient(vendor, "AdaptiveAvgPool3d", dtype, cut, layout, 424)


def test_volume_without_a_batch(vendor: Vendor) -> None:
    lines = adaptive(VOLUME, (3, 4, 4))
    a, x = place_image(vendor, numbers((3, *VOLUME), "float32", 428), "float32", "dense")
    want, size, length = means(x, lines, counts(lines))
    out = out_like(vendor, want.shape, "float32")
    vendor.op.AdaptiveAvgPool3d(out, a, (3, 4, 4))
    bound = {"reduction_length": length, "magnitude": size}
    check(out, want, OpClass.REDUCTION, "AdaptiveAvgPool3d", **bound)


@pytest.mark.parametrize(
    ("shape", "size"), [((0, 3, 4, 4, 4), (2, 2, 2)), ((1, 3, 4, 4, 4), (0, 2, 2))]
)
def test_empty_batch_and_empty_output(
    vendor: Vendor, shape: tuple[int, ...], size: tuple[int, ...]
) -> None:
    x = out_like(vendor, shape, "float32")
    out = out_like(vendor, (*shape[:2], *size), "float32")
    vendor.op.AdaptiveAvgPool3d(out, x, size)
    gi = out_like(vendor, shape, "float32")
    vendor.op.AdaptiveAvgPool3dBackward(gi, out, x)
    assert not gi.numpy().any()


def test_what_does_not_fit_is_named(vendor: Vendor) -> None:
    x, out = out_like(vendor, (2, 4, 4, 4), "float32"), out_like(vendor, (2, 2, 2, 2), "float32")
    other = out_like(vendor, (3, 2, 2, 2), "float32")
    with pytest.raises(OperatorError, match="2 and 3 elements in dim 0 were given"):
        vendor.op.AdaptiveAvgPool3d(other, x, (2, 2, 2))
    with pytest.raises(OperatorError, match="grad_input does not have the shape of the input"):
        vendor.op.AdaptiveAvgPool3dBackward(out, out, x)

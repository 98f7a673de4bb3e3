"""Images sampled at the positions of a grid."""

from __future__ import annotations

import numpy as np
import pytest

import references_maps  # noqa: F401 - registers the references
from diopi_proto import OperatorError, Vendor
from references import check_operator
from support import FLOATS, LAYOUTS, numbers, out_like


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_grid_sample(vendor: Vendor, dtype: str, layout: str, mode: str) -> None:
    image, grid = numbers((2, 3, 4, 5), dtype, 130), numbers((2, 3, 6, 2), dtype, 131, -1.4, 1.4)
    check_operator(vendor, "diopiGridSample", dtype, layout, input=image, grid=grid, mode=mode)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_a_grid_of_centres_gives_the_image(vendor: Vendor, mode: str) -> None:
    image = numbers((1, 2, 4, 8), "float64", 132)
    y, x = np.meshgrid((np.arange(4) + 0.5) / 2 - 1, (np.arange(8) + 0.5) / 4 - 1, indexing="ij")
    out = out_like(vendor, image.shape, "float64")
    grid = vendor.tensor(np.stack([x, y], -1)[None])
    vendor.op.GridSample(out, vendor.tensor(image), grid, mode)
    assert np.array_equal(out.numpy(), image)


def test_places_that_are_no_numbers_give_zeros(vendor: Vendor) -> None:
    grid = np.array([np.nan, 0, np.inf, 0, 1e30, -1e30, 0, -np.inf]).reshape(1, 2, 2, 2)
    image, out = (
        out_like(vendor, (1, 1, 3, 3), "float64"),
        out_like(vendor, (1, 1, 2, 2), "float64"),
    )
    for mode in ("bilinear", "nearest", "bicubic"):
        vendor.op.GridSample(out, image, vendor.tensor(grid), mode)
        assert not np.any(out.numpy())


def test_bad_shapes_are_told(vendor: Vendor) -> None:
    image, out = (
        out_like(vendor, (1, 1, 3, 3), "float32"),
        out_like(vendor, (1, 1, 2, 2), "float32"),
    )
    with pytest.raises(OperatorError, match=r"grid has the shape \[1, 2, 2, 3\]; it needs"):
        vendor.op.GridSample(out, image, out_like(vendor, (1, 2, 2, 3), "float32"), "bilinear")

"""Tests of images sampled at the positions of a grid."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import numbers, out_like

OPERATORS = ("GridSample",)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_a_grid_of_centres_gives_the_image(vendor: Vendor, mode: str) -> None:
    image = numbers((1, 2, 4, 8), "float64", 132)
    y, x = np.meshgrid((np.arange(4) + 0.5) / 2 - 1, (np.arange(8) + 0.5) / 4 - 1, indexing="ij")
    out = out_like(vendor, image.shape, "float64")
    grid = vendor.tensor(np.stack([x, y], -1)[None])
    vendor.op.GridSample(out, vendor.tensor(image), grid, mode)
    assert np.array_equal(out.numpy(), image)


def test_positions_that_are_not_finite_give_nan(vendor: Vendor) -> None:
    """As in torch, whose weights are NaN there; the nearest cell has no weight."""
    grid = np.array([np.nan, 0, np.inf, 0, 1e30, -1e30, 0, -np.inf]).reshape(1, 2, 2, 2)
    image, out = (
        out_like(vendor, (1, 1, 3, 3), "float64"),
        out_like(vendor, (1, 1, 2, 2), "float64"),
    )
    for mode in ("bilinear", "nearest", "bicubic"):
        vendor.op.GridSample(out, image, vendor.tensor(grid), mode)
        undefined = 0.0 if mode == "nearest" else np.nan
        expected = np.array([undefined, undefined, 0, undefined]).reshape(1, 1, 2, 2)
        assert np.array_equal(out.numpy(), expected, equal_nan=True), mode


def test_bad_shapes_are_reported(vendor: Vendor) -> None:
    image, out = (
        out_like(vendor, (1, 1, 3, 3), "float32"),
        out_like(vendor, (1, 1, 2, 2), "float32"),
    )
    with pytest.raises(OperatorError, match=r"grid has the shape \[1, 2, 2, 3\]; it needs"):
        vendor.op.GridSample(out, image, out_like(vendor, (1, 2, 2, 3), "float32"), "bilinear")

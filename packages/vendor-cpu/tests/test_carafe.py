"""Tests of upsampling by content-dependent kernels."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import numbers, out_like

OPERATORS = ("CarafeMmcv", "CarafeBackwardMmcv", "CarafeNaiveMmcv", "CarafeNaiveBackwardMmcv")


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_masks_of_one_place_move_the_features(vendor: Vendor) -> None:
    features = numbers((2, 9, 4, 5), "float32", 3).astype(np.float32)
    masks = np.zeros((2, 9, 8, 10), np.float32)
    masks[:, 5] = 1  # the right neighbor
    out = out_like(vendor, (2, 9, 8, 10), "float32")
    vendor.op.CarafeNaiveMmcv(out, vendor.tensor(features), vendor.tensor(masks), 3, 1, 2)
    moved = np.zeros_like(features)
    moved[..., :-1] = features[..., 1:]
    assert np.array_equal(out.numpy(), moved.repeat(2, 2).repeat(2, 3))


def test_workspace_may_have_the_shapes_of_what_it_holds(vendor: Vendor) -> None:
    features, masks = numbers((2, 3, 4, 5), "float64", 1), numbers((2, 9, 8, 10), "float64", 2)
    like = {"features": (2, 3, 4, 5), "output": (2, 3, 8, 10), "masks": (2, 9, 8, 10)}
    made = {name: out_like(vendor, shape, "float64") for name, shape in like.items()}
    x, m, out, naive = (
        vendor.tensor(features), vendor.tensor(masks), *(
            out_like(vendor, (2, 3, 8, 10), "float64") for _ in range(2)
        ),
    )  # fmt: skip
    vendor.op.CarafeMmcv(made["features"], made["output"], made["masks"], out, x, m, 3, 1, 2)
    vendor.op.CarafeNaiveMmcv(naive, x, m, 3, 1, 2)
    assert np.array_equal(out.numpy(), naive.numpy())
    kept = made["features"].numpy().reshape(2, 4, 5, 3)
    assert np.array_equal(kept, np.moveaxis(features, 1, 3))
    to_x, to_m = (
        out_like(vendor, (2, 3, 4, 5), "float64"),
        out_like(vendor, (2, 9, 8, 10), "float64"),
    )
    vendor.op.CarafeBackwardMmcv(
        made["output"], naive, vendor.tensor(features), made["masks"], to_x, to_m, out,
        made["features"], m, 3, 1, 2,
    )  # fmt: skip
    added = [vendor.tensor(np.zeros(like[name])) for name in ("features", "masks")]
    vendor.op.CarafeNaiveBackwardMmcv(*added, out, x, m, 3, 1, 2)
    assert np.array_equal(to_x.numpy(), added[0].numpy())
    assert np.array_equal(to_m.numpy(), added[1].numpy())


BAD = {
    "kernel_size is 2; give an odd number": (2, 1, 2),
    "kernel_size is 0": (0, 1, 2),
    "group_size is -1": (3, -1, 2),
    "scale_factor is 0": (3, 1, 0),
    "4 channels do not divide into 3 groups": (3, 3, 2),
    "2 groups of 3 by 3 for 2 times 3 by 3 cells were expected": (3, 2, 2),
    "1 groups of 3 by 3 for 4611686018427387904 times": (3, 1, 2**62),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_arguments_are_reported(vendor: Vendor, message: str) -> None:
    features, masks = (
        out_like(vendor, (1, 4, 3, 3), "float32"),
        out_like(vendor, (1, 9, 6, 6), "float32"),
    )
    out = out_like(vendor, (1, 4, 6, 6), "float32")
    with pytest.raises(OperatorError, match=message):
        vendor.op.CarafeNaiveMmcv(out, features, masks, *BAD[message])


def test_misshapen_tensors_are_reported(vendor: Vendor) -> None:
    features, masks = (
        out_like(vendor, (1, 4, 3, 3), "float32"),
        out_like(vendor, (1, 9, 6, 6), "float32"),
    )
    out, less = out_like(vendor, (1, 4, 6, 6), "float32"), out_like(vendor, (1, 4, 6), "float32")
    with pytest.raises(OperatorError, match="the output has the shape"):
        vendor.op.CarafeNaiveMmcv(less, features, masks, 3, 1, 2)
    with pytest.raises(OperatorError, match="rfeatures has 24 elements; it needs 36"):
        vendor.op.CarafeMmcv(less, out, masks, out, features, masks, 3, 1, 2)
    with pytest.raises(OperatorError, match="bottom_grad and mask_grad need the shapes"):
        vendor.op.CarafeNaiveBackwardMmcv(less, masks, out, features, masks, 3, 1, 2)
    with pytest.raises(OperatorError, match="mask_grad does not have the shape of the masks"):
        vendor.op.CarafeBackwardMmcv(
            out, out, features, masks, features, less, out, features, masks, 3, 1, 2
        )

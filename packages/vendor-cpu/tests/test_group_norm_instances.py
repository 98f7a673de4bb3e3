"""Tests of instance normalization and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import Array, numbers, out_like, place

EPS = 1e-5


@pytest.mark.parametrize("name", ["diopiInstanceNorm", "diopiInstanceNormBackward"])
def test_the_cases_of_the_suite_pass(vendor: Vendor, name: str) -> None:
    check_cases(vendor, name)


def instance_norm(vendor: Vendor, x: Array, axis: int, channels: int) -> Array:
    """Return the result with different factors for each channel."""
    out = out_like(vendor, x.shape, "float64")
    scale, bias = (place(vendor, numbers((channels,), "float64", s), "float64")[0] for s in (2, 3))
    vendor.op.InstanceNorm(out, place(vendor, x, "float64")[0], axis, scale, bias, EPS)
    return out.numpy()


@pytest.mark.parametrize("shape", [(2, 3, 7), (2, 3, 3, 5), (4, 5, 5, 5)], ids=str)
def test_axis_2_normalizes_each_channel_as_group_norm_of_groups_of_one_does(
    vendor: Vendor, shape: tuple[int, ...]
) -> None:
    x, channels = numbers(shape, "float64", 1), shape[1]
    out = out_like(vendor, shape, "float64")
    statistics = [out_like(vendor, shape[:2], "float64") for _ in range(2)]
    affine = [place(vendor, numbers((channels,), "float64", s), "float64")[0] for s in (2, 3)]
    vendor.op.GroupNorm(out, *statistics, place(vendor, x, "float64")[0], *affine, channels, EPS)
    assert np.allclose(instance_norm(vendor, x, 2, channels), out.numpy(), 1e-12, 1e-12)


def test_all_dimensions_between_the_samples_and_the_axis_are_channels(vendor: Vendor) -> None:
    x = numbers((2, 3, 4, 5), "float64", 1)
    flat = instance_norm(vendor, x.reshape(2, 12, 5), 2, 12)
    assert np.array_equal(instance_norm(vendor, x, 3, 12), flat.reshape(x.shape))
    assert np.array_equal(instance_norm(vendor, x, -1, 12), flat.reshape(x.shape))


def test_axes_that_leave_no_samples_are_refused(vendor: Vendor) -> None:
    x = out_like(vendor, (2, 3, 4), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiInstanceNorm\] axis 0 of 3 dimensions .* 2"):
        vendor.op.InstanceNorm(x, x, 0, None, None, EPS)
    with pytest.raises(OperatorError, match=r"scale has 4 elements; the input has 3 channels"):
        vendor.op.InstanceNorm(x, x, 2, out_like(vendor, (4,), "float32"), None, EPS)

"""Tests of two-dimensional convolution and its gradients."""

from __future__ import annotations

import numpy as np
import pytest

from convolutions import Geometry, convolve, input_gradient, weight_gradient
from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, check, numbers, out_like, place


@pytest.fixture(params=["libraries", "portable"])
def vendor(request: pytest.FixtureRequest, vendor: Vendor, portable_vendor: Vendor) -> Vendor:
    """The vendor with the installed libraries, and without."""
    return vendor if request.param == "libraries" else portable_vendor


CONVOLUTIONS = [
    # samples, channels, filters, height, width, kernel, stride, padding, dilation, groups
    (2, 3, 4, 9, 8, 3, 1, 1, 1, 1),
    (5, 4, 6, 7, 7, 3, 2, 0, 1, 2),
    (1, 4, 4, 8, 9, 3, 1, 2, 2, 4),
    (3, 6, 5, 5, 6, 1, 1, 0, 1, 1),
    (2, 2, 3, 6, 6, 5, 3, 2, 1, 1),
    (1, 16, 8, 40, 50, 3, 1, 1, 1, 1),
    (2, 40, 26, 4, 5, 3, 1, 1, 1, 2),  # groups large enough for a matrix product
    (2, 3, 6, 7, 8, 3, 2, 1, 1, 3),  # each channel a group with two filters
]


@pytest.mark.parametrize("layout", ["dense", "transposed"])
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_convolution_and_its_gradients(
    vendor: Vendor, dtype: str, case: tuple[int, ...], layout: str
) -> None:
    n, channels, filters, height, width, kernel, stride, padding, dilation, groups = case
    geometry = Geometry(stride, padding, dilation, groups)
    a, x = place(vendor, numbers((n, channels, height, width), dtype, 125), dtype, layout)
    w, weight = place(
        vendor, numbers((filters, channels // groups, kernel, kernel), dtype, 126), dtype
    )
    b, bias = place(vendor, numbers((filters,), dtype, 127), dtype)
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    if dtype == "float64":
        x, weight = x.astype(np.longdouble), weight.astype(np.longdouble)
    shift = bias.reshape(1, -1, 1, 1)
    want = convolve(x, weight, geometry) + shift
    size = convolve(np.abs(x), np.abs(weight), geometry) + np.abs(shift)
    taps = channels // groups * kernel * kernel
    out = out_like(vendor, want.shape, dtype, layout)
    lists = ((stride, stride), (padding, padding), (dilation, dilation), groups)
    vendor.op.Convolution2d(out, a, w, b, *lists)
    check(out, want, OpClass.MATMUL, "Convolution2d", reduction_length=taps + 1, magnitude=size)

    g, grad = place(vendor, numbers(want.shape, dtype, 128), dtype, layout)
    grad = grad.astype(x.dtype)
    gi, gw = out_like(vendor, x.shape, dtype, layout), out_like(vendor, weight.shape, dtype)
    gb = out_like(vendor, (filters,), dtype)
    vendor.op.Convolution2dBackward(gi, gw, gb, g, a, w, None, *lists)
    want_input = input_gradient(grad, weight, x.shape, geometry)
    want_weight = weight_gradient(grad, x, weight.shape, geometry)
    size_input = input_gradient(np.abs(grad), np.abs(weight), x.shape, geometry)
    size_weight = weight_gradient(np.abs(grad), np.abs(x), weight.shape, geometry)
    positions = n * want.shape[2] * want.shape[3]
    check(
        gi,
        want_input,
        OpClass.MATMUL,
        "grad_input",
        reduction_length=filters * kernel * kernel,
        magnitude=size_input,
    )
    check(
        gw,
        want_weight,
        OpClass.MATMUL,
        "grad_weight",
        reduction_length=positions,
        magnitude=size_weight,
    )
    check(
        gb,
        grad.sum(axis=(0, 2, 3)),
        OpClass.REDUCTION,
        "grad_bias",
        reduction_length=positions,
        magnitude=np.abs(grad).sum(axis=(0, 2, 3)),
    )


def test_convolution_without_bias_and_sample_dim(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((3, 6, 6), "float32", 129), "float32")
    w, weight = place(vendor, numbers((2, 3, 3, 3), "float32", 130), "float32")
    out = out_like(vendor, (2, 4, 4), "float32")
    vendor.op.Convolution2d(out, a, w, None, (1,), (0,), (1,), 1)
    want = convolve(x[None], weight, Geometry(1, 0, 1, 1))[0]
    check(
        out,
        want,
        OpClass.MATMUL,
        "Convolution2d",
        reduction_length=27,
        magnitude=convolve(np.abs(x)[None], np.abs(weight), Geometry(1, 0, 1, 1))[0],
    )


def test_convolution_gives_only_the_gradients_asked_for(vendor: Vendor) -> None:
    x = vendor.tensor(np.ones((1, 1, 3, 3), np.float32))
    w = vendor.tensor(np.ones((1, 1, 2, 2), np.float32))
    g = vendor.tensor(np.ones((1, 1, 2, 2), np.float32))
    gw = out_like(vendor, (1, 1, 2, 2), "float32")
    vendor.op.Convolution2dBackward(None, gw, None, g, x, w, None, (1, 1), (0, 0), (1, 1), 1)
    assert gw.numpy().ravel().tolist() == [4.0] * 4


def test_convolution_gradients_must_have_the_right_sizes(vendor: Vendor) -> None:
    x, w = out_like(vendor, (1, 1, 3, 3), "float32"), out_like(vendor, (1, 1, 2, 2), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiConvolution2dBackward\]"):
        vendor.op.Convolution2dBackward(w, None, None, w, x, w, None, (1, 1), (0, 0), (1, 1), 1)


def test_convolution_names_what_does_not_fit(vendor: Vendor) -> None:
    x, w = out_like(vendor, (1, 4, 5, 5), "float32"), out_like(vendor, (2, 3, 3, 3), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiConvolution2d\] 4 input channels"):
        vendor.op.Convolution2d(
            out_like(vendor, (1, 2, 3, 3), "float32"), x, w, None, (1, 1), (0, 0), (1, 1), 1
        )

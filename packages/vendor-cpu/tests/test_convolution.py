"""Tests of three-dimensional convolution, transposed convolution, and the portable kernels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from convolutions import Geometry, convolve, input_gradient, weight_gradient
from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, Array, check, numbers, out_like, place


@pytest.fixture(params=["libraries", "portable"])
def vendor(request: pytest.FixtureRequest, vendor: Vendor, portable_vendor: Vendor) -> Vendor:
    """The vendor with the installed libraries, and without."""
    return vendor if request.param == "libraries" else portable_vendor


LAYOUTS = ("dense", "transposed")
CASES_3D = [
    # samples, channels, filters, sizes, kernel, geometry
    (2, 3, 4, (5, 6, 7), (3, 2, 3), Geometry(1, 1, 1, 1)),
    (1, 4, 6, (6, 5, 8), (2, 3, 1), Geometry(2, 0, 2, 2)),
    (3, 2, 2, (4, 4, 4), (1, 1, 1), Geometry(3, 0, 1, 2)),
]
TRANSPOSED = [
    # samples, input channels, output channels, input sizes, kernel, extra, geometry
    (2, 3, 4, (5, 6), (3, 3), 0, Geometry(1, 1, 1, 1)),
    (2, 4, 6, (4, 5), (3, 2), 1, Geometry(2, 1, 1, 2)),
    (1, 4, 4, (3, 4), (2, 2), 2, Geometry(3, 0, 2, 4)),
    (1, 20, 40, (9, 9), (4, 4), 0, Geometry(2, 1, 1, 1)),
    (2, 3, 4, (3, 4, 3), (2, 3, 2), 1, Geometry(2, 1, 1, 1)),
    (2, 2, 4, (4, 3), (3, 2), 2, Geometry(1, 1, 3, 2)),  # more output padding than stride
]


def wide(array: Array, dtype: str) -> Array:
    """longdouble einsum is slow: double is wide enough for all other dtypes."""
    return array.astype(np.longdouble if dtype == "float64" else np.float64)


def bounded(out: Any, want: Array, size: Array, name: str, terms: int) -> None:
    check(out, want, OpClass.MATMUL, name, reduction_length=terms, magnitude=size)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CASES_3D, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_convolution3d_and_its_gradients(
    vendor: Vendor, dtype: str, case: tuple[Any, ...], layout: str
) -> None:
    n, channels, filters, sizes, kernel, geometry = case
    shape = (filters, channels // geometry.groups, *kernel)
    a, x = place(vendor, numbers((n, channels, *sizes), dtype, 501), dtype, layout)
    b, w = place(vendor, numbers(shape, dtype, 502), dtype)
    c, bias = place(vendor, numbers((filters,), dtype, 503), dtype)
    x, w = wide(x, dtype), wide(w, dtype)
    want = convolve(x, w, geometry) + bias.reshape(-1, 1, 1, 1)
    size = convolve(abs(x), abs(w), geometry) + abs(bias).reshape(-1, 1, 1, 1)
    out = out_like(vendor, want.shape, dtype, layout)
    each = ((geometry.stride,) * 3, (geometry.padding,) * 3, (geometry.dilation,) * 3)
    vendor.op.Convolution3d(out, a, b, c, *each, geometry.groups)
    bounded(out, want, size, "Convolution3d", math.prod(shape[1:]) + 1)

    d, g = place(vendor, numbers(want.shape, dtype, 504), dtype, layout)
    g = wide(g, dtype)
    gi, gw = out_like(vendor, x.shape, dtype, layout), out_like(vendor, shape, dtype)
    gb = out_like(vendor, (filters,), dtype)
    vendor.op.Convolution3dBackward(gi, gw, gb, d, a, b, None, *each, geometry.groups)
    bounded(
        gi,
        input_gradient(g, w, x.shape, geometry),
        input_gradient(abs(g), abs(w), x.shape, geometry),
        "grad_input",
        filters * math.prod(kernel),
    )
    positions = n * math.prod(want.shape[2:])
    bounded(
        gw,
        weight_gradient(g, x, shape, geometry),
        weight_gradient(abs(g), abs(x), shape, geometry),
        "grad_weight",
        positions,
    )
    axes = (0, 2, 3, 4)
    bounded(gb, g.sum(axis=axes), abs(g).sum(axis=axes), "grad_bias", positions)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_transposed_convolution_and_its_gradients(
    vendor: Vendor, dtype: str, case: tuple[Any, ...], layout: str
) -> None:
    n, channels, filters, sizes, kernel, extra, geometry = case
    dims = len(sizes)
    shape = (channels, filters // geometry.groups, *kernel)
    a, x = place(vendor, numbers((n, channels, *sizes), dtype, 511), dtype, layout)
    b, w = place(vendor, numbers(shape, dtype, 512), dtype)
    c, bias = place(vendor, numbers((filters,), dtype, 513), dtype)
    x, w = wide(x, dtype), wide(w, dtype)
    out_sizes = [
        (s - 1) * geometry.stride - 2 * geometry.padding + geometry.dilation * (k - 1) + 1 + extra
        for s, k in zip(sizes, kernel, strict=True)
    ]
    out_shape = (n, filters, *out_sizes)
    shift = bias.reshape(-1, *[1] * dims)
    out = out_like(vendor, out_shape, dtype, layout)
    lists = [(value,) * dims for value in (geometry.stride, geometry.padding, extra)]
    dilation = (geometry.dilation,) * dims
    forward = {2: "ConvTranspose2d", 3: "ConvTranspose3d"}[dims]
    getattr(vendor.op, forward)(out, a, b, c, *lists, geometry.groups, dilation)
    bounded(
        out,
        input_gradient(x, w, out_shape, geometry) + shift,
        input_gradient(abs(x), abs(w), out_shape, geometry) + abs(shift),
        "ConvTranspose",
        channels * math.prod(kernel) + 1,
    )

    d, g = place(vendor, numbers(out_shape, dtype, 514), dtype, layout)
    g = wide(g, dtype)
    gi, gw = out_like(vendor, x.shape, dtype, layout), out_like(vendor, shape, dtype)
    gb = out_like(vendor, (filters,), dtype)
    backward = {2: "ConvTranspose2dBackward", 3: "ConvTranspose3dBackward"}[dims]
    getattr(vendor.op, backward)(
        gi, gw, gb, d, a, b, None, *lists[:2], dilation, lists[2], geometry.groups
    )
    # Windows that exist only because of the output padding belong to no input element.
    inside = (slice(None), slice(None), *map(slice, sizes))
    bounded(
        gi,
        convolve(g, w, geometry)[inside],
        convolve(abs(g), abs(w), geometry)[inside],
        "grad_input",
        math.prod(shape[1:]),
    )
    bounded(
        gw,
        weight_gradient(x, g, shape, geometry),
        weight_gradient(abs(x), abs(g), shape, geometry),
        "grad_weight",
        n * math.prod(sizes),
    )
    axes = (0, *range(2, 2 + dims))
    bounded(gb, g.sum(axis=axes), abs(g).sum(axis=axes), "grad_bias", n * math.prod(out_sizes))


def test_transposed_convolution_names_sizes_that_do_not_fit(vendor: Vendor) -> None:
    x, w = out_like(vendor, (1, 1, 3, 3), "float32"), out_like(vendor, (1, 1, 2, 2), "float32")
    out = out_like(vendor, (1, 1, 3, 4), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiConvTranspose2d\] a kernel of 2 .* on 3"):
        vendor.op.ConvTranspose2d(out, x, w, None, (1, 1), (0, 0), (0, 0), 1, (1, 1))


def test_convolution_of_no_samples_gives_zero_gradients(vendor: Vendor) -> None:
    x, g = out_like(vendor, (0, 2, 4, 4), "float32"), out_like(vendor, (0, 3, 2, 2), "float32")
    w, gw = out_like(vendor, (3, 2, 3, 3), "float32"), out_like(vendor, (3, 2, 3, 3), "float32")
    gb = out_like(vendor, (3,), "float32")
    gi = out_like(vendor, (0, 2, 4, 4), "float32")
    vendor.op.Convolution2dBackward(gi, gw, gb, g, x, w, None, (1, 1), (0, 0), (1, 1), 1)
    assert not gw.numpy().any()
    assert not gb.numpy().any()


def test_repeated_convolutions_are_alike(vendor: Vendor) -> None:
    """Cached state does not contain the operands of the first call."""
    shape = (2, 8, 9, 9)
    b, w = place(vendor, numbers((16, 8, 3, 3), "float32", 521), "float32")
    for seed in (522, 523, 524):
        a, x = place(vendor, numbers(shape, "float32", seed), "float32")
        out = out_like(vendor, (2, 16, 9, 9), "float32")
        vendor.op.Convolution2d(out, a, b, None, (1, 1), (1, 1), (1, 1), 1)
        geometry = Geometry(1, 1, 1, 1)
        bounded(
            out,
            convolve(wide(x, "float32"), wide(w, "float32"), geometry),
            convolve(abs(wide(x, "float32")), abs(wide(w, "float32")), geometry),
            "Convolution2d",
            72,
        )

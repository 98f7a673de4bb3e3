"""Matrix products and convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convolutions import Geometry, convolve, input_gradient, weight_gradient
from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, INTS, LAYOUTS, Array, check, numbers, out_like, place


@pytest.fixture(params=["libraries", "portable"])
def vendor(request: pytest.FixtureRequest, vendor: Vendor, portable_vendor: Vendor) -> Vendor:
    """With the libraries of others that are installed here, and without."""
    return vendor if request.param == "libraries" else portable_vendor


def product_check(
    out: Any, left: Array, right: Array, name: str, want: Array | None = None
) -> None:
    size = np.matmul(np.abs(left), np.abs(right))
    reference = np.matmul(left, right) if want is None else want
    check(
        out,
        reference,
        OpClass.MATMUL,
        name,
        reduction_length=left.shape[-1],
        magnitude=size + np.abs(reference),
    )


@pytest.mark.parametrize("layouts", [(a, b) for a in LAYOUTS for b in LAYOUTS], ids="-".join)
@pytest.mark.parametrize(
    "shape",
    [
        (1, 1, 1),
        (1, 40, 7),
        (40, 1, 7),
        (3, 5, 2),
        (17, 33, 70),
        (2, 600, 300),
        (61, 50, 300),
        (7, 9, 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_mm(
    vendor: Vendor, dtype: str, shape: tuple[int, int, int], layouts: tuple[str, str]
) -> None:
    m, n, k = shape
    a, x = place(vendor, numbers((m, k), dtype, 111), dtype, layouts[0])
    b, y = place(vendor, numbers((k, n), dtype, 112), dtype, layouts[1])
    out = out_like(vendor, (m, n), dtype, layouts[0])
    vendor.op.Mm(out, a, b)
    product_check(out, x, y, "Mm")


def test_mm_larger_than_every_block(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((530, 700), "float32", 113), "float32")
    b, y = place(vendor, numbers((700, 2300), "float32", 114), "float32")
    out = out_like(vendor, (530, 2300), "float32")
    vendor.op.Mm(out, a, b)
    product_check(out, x.astype(np.float64), y.astype(np.float64), "Mm")


@pytest.mark.parametrize("dtype", INTS)
def test_mm_of_integers_wraps(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers((5, 9), dtype, 115, -90, 90), dtype)
    b, y = place(vendor, numbers((9, 4), dtype, 116, -90, 90), dtype)
    out = out_like(vendor, (5, 4), dtype)
    vendor.op.Mm(out, a, b)
    assert np.array_equal(out.numpy(), np.matmul(x, y))


def test_mm_of_no_terms_is_zero(vendor: Vendor) -> None:
    out = out_like(vendor, (3, 4), "float32")
    vendor.op.Mm(out, out_like(vendor, (3, 0), "float32"), out_like(vendor, (0, 4), "float32"))
    assert not out.numpy().any()


def test_mm_names_shapes_that_do_not_fit(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match=r"\[diopiMm\] 2x3 times 4x5 does not give 2x5"):
        vendor.op.Mm(*(out_like(vendor, s, "float32") for s in ((2, 5), (2, 3), (4, 5))))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_bmm_and_baddbmm(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((4, 9, 20), dtype, 117), dtype, layout)
    b, y = place(vendor, numbers((4, 20, 11), dtype, 118), dtype, layout)
    out = out_like(vendor, (4, 9, 11), dtype, layout)
    vendor.op.Bmm(out, a, b)
    product_check(out, x, y, "Bmm")
    source = numbers((4, 9, 11), dtype, 119)
    c, z = place(vendor, source, dtype)
    want = np.longdouble(0.5) * z + 2 * np.matmul(x, y)
    vendor.op.Baddbmm(out, c, a, b, 0.5, 2.0)
    product_check(out, 2 * x, y, "Baddbmm", want)
    vendor.op.BaddbmmInp(c, a, b, 0.5, 2.0)
    product_check(c, 2 * x, y, "BaddbmmInp", want)


@pytest.mark.parametrize("shape", [(9, 11), (11,), (9, 1), (1, 1), ()], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_addmm_broadcasts_its_input(vendor: Vendor, dtype: str, shape: tuple[int, ...]) -> None:
    a, x = place(vendor, numbers((9, 300), dtype, 120), dtype)
    b, y = place(vendor, numbers((300, 11), dtype, 121), dtype, "transposed")
    c, z = place(vendor, numbers(shape, dtype, 122), dtype)
    out = out_like(vendor, (9, 11), dtype)
    vendor.op.Addmm(out, c, a, b, 3, 0.5)
    product_check(out, x, y, "Addmm", 3 * z + np.matmul(x, y) / 2)


def test_addmm_with_beta_zero_does_not_read_its_input(vendor: Vendor) -> None:
    a = vendor.tensor(np.ones((2, 2), np.float32))
    out = vendor.tensor(np.full((2, 2), np.nan, np.float32))
    vendor.op.Addmm(out, vendor.tensor(np.full((2, 2), np.nan, np.float32)), a, a, 0, 1)
    assert out.numpy().tolist() == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((7,), (7,)),
        ((5, 7), (7,)),
        ((7,), (7, 4)),
        ((3, 5, 7), (7,)),
        ((7,), (3, 7, 4)),
        ((3, 5, 7), (7, 4)),
        ((2, 3, 5, 7), (7, 4)),
        ((2, 1, 5, 7), (3, 7, 4)),
        ((5, 7), (3, 7, 4)),
        ((0, 5, 7), (7, 4)),
    ],
    ids=str,
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matmul_of_any_dimensions(
    vendor: Vendor, left: tuple[int, ...], right: tuple[int, ...], layout: str
) -> None:
    a, x = place(vendor, numbers(left, "float32", 123), "float32", layout)
    b, y = place(vendor, numbers(right, "float32", 124), "float32", layout)
    want = np.matmul(x, y)
    out = out_like(vendor, want.shape, "float32")
    vendor.op.Matmul(out, a, b)
    check(
        out,
        want,
        OpClass.MATMUL,
        "Matmul",
        reduction_length=7,
        magnitude=np.matmul(np.abs(x), np.abs(y)),
    )


CONVOLUTIONS = [
    # samples, channels, filters, height, width, kernel, stride, padding, dilation, groups
    (2, 3, 4, 9, 8, 3, 1, 1, 1, 1),
    (5, 4, 6, 7, 7, 3, 2, 0, 1, 2),
    (1, 4, 4, 8, 9, 3, 1, 2, 2, 4),
    (3, 6, 5, 5, 6, 1, 1, 0, 1, 1),
    (2, 2, 3, 6, 6, 5, 3, 2, 1, 1),
    (1, 16, 8, 40, 50, 3, 1, 1, 1, 1),
    (2, 40, 26, 4, 5, 3, 1, 1, 1, 2),  # groups that are worth a matrix product
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
